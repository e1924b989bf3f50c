"""Compare two endpoints on your code: first what it will cost at most, then the audit, then one page.

export OPENAI_API_KEY=…
python compare_endpoints.py small large --base-url https://example.com/v1 --corpus src/ --max-requests 4000
"""

import argparse

import codeaudit


def main() -> None:
    """Read the options and do all of it."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("models", nargs=2, metavar="MODEL", help="The endpoint's names of the models.")
    options.add_argument("--base-url", help="Of the endpoint; OpenAI's by default.")
    options.add_argument("--corpus", default="stdlib:json,textwrap", help="Code that the models may see.")
    options.add_argument("--limit", type=int, default=100, help="Functions.")
    options.add_argument("--max-requests", type=int, default=4000, help="For both models together.")
    options.add_argument("--page", default="comparison.html", help="Where the page goes.")
    given = options.parse_args()

    # A wrong key or name is told before any work. At the limit the run stops; answers are kept, and the same
    # command with a higher limit goes on.
    run = codeaudit.run(
        [f"openai/{name}" for name in given.models],
        base_url=given.base_url,
        corpus=given.corpus,
        transforms=["reorder", "rename"],
        limit=given.limit,
        max_requests=given.max_requests,
    )

    for model in run.summary.models:
        rate, noise = model.violations, model.noise_samples
        excess = model.excess.points
        if rate.rate is None:
            print(f"{model.model}: nothing could be judged ({model.unjudged} pairs unjudged)")
            continue
        print(
            f"{model.model}: {rate.count} of {rate.total} samples changed "
            f"({rate.low:.1%} to {rate.high:.1%}); without any edit {noise.count} of {noise.total}"
            + (
                ""
                if excess is None or not noise.count
                else f", so edits changed {100 * excess:+.1f} points beyond that"
            )
        )
    run.to_html(given.page)
    print(f"{given.page}: the verdict in words, the figures, and every answer that changed")


if __name__ == "__main__":
    main()
