"""Which model an `-M` argument is for, and which of them may hold no secret."""

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.openai.model import ARGUMENTS
from codeaudit.audit.models.provider import Settings
from codeaudit.bound_arguments import of_model, read_arguments, rebound
from codeaudit.options import RunOptions
from codeaudit.preparing import check_names
from codeaudit.retyping import foreign_arguments
from codeaudit.transforms.errors import ModelError, UsageError

SECRET = "S3cr3tW0rdOfOurs"
TWO = ("openai/a", "openai/b")
HERE, THERE = "http://a.example/v1", "http://b.example/v1"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VENDOR_KEY", SECRET)


def checked(*texts: str, models: tuple[str, ...] = TWO, base_url: str | None = None) -> RunOptions:
    options = RunOptions(model=models, model_argument=texts, base_url=base_url)
    check_names(options, {})
    return options


def test_a_bound_argument_is_for_its_model_and_wins_over_that_for_all() -> None:
    arguments = read_arguments(["seed=1", "2:seed=2", "1:headers.x-a=b=c", "version=1:2", "seed=3"])
    assert of_model(arguments, 1, None) == {"seed": "3", "version": "1:2", "headers.x-a": "b=c"}
    assert of_model(arguments, 2, None) == {"seed": "2", "version": "1:2"}
    assert of_model(arguments, 2, {"seed"}) == {"seed": "2"}


@pytest.mark.parametrize(
    ("texts", "models", "message"),
    [
        (["seed"], TWO, "'seed' must be -M key=value"),
        (["=1"], TWO, "must be -M key=value"),
        (["0:seed=1"], TWO, "the first model has the number 1"),
        (["3:seed=1"], TWO, "-M 3:seed: 2 --model are named"),
        (["2:seed=1"], TWO[:1], "-M 2:seed: one --model is named"),
        (["1:seed=1"], (), "-M 1:seed: no --model is named"),
        (["2:seed=1"], ("openai/a", "fake/hash"), "-M 2:seed: model 'fake/hash' takes no such argument"),
        (["2:base_url=http://h"], ("openai/a", "fake/hash"), "takes no such argument"),
        (["sead=1"], TWO, "no model here takes the argument 'sead'; did you mean 'seed'"),
        (["api_key=x"], TWO, "named by -M key_env=NAME"),
        (["price_in=1", "price_in=2"], TWO, "-M price_in is given 2 times.*-M 1:price_in=…"),
        ([], ("openai/a", "openai/a"), "named twice.*-M 1:name=A -M 2:name=B"),
        (["name=x"], ("openai/a", "openai/a"), r"'openai/a \(x\)' is named twice"),
        ([], ("fake/hash", "fake/hash"), "named twice$"),
    ],
)
def test_an_argument_for_no_model_is_an_error(
    texts: list[str], models: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        checked(*texts, models=models)


def test_what_is_meant_for_one_model_may_be_given_twice() -> None:
    assert checked("price_in=1", "price_in=2", models=TWO[:1])
    assert checked("price_in=1", "price_in=2", models=("openai/a", "fake/hash"))
    assert checked("price_in=1", "price_in=1")
    assert checked("1:name=x", "2:name=y", models=("openai/a", "openai/a"))


def test_an_address_for_all_must_be_of_one_model() -> None:
    checked(f"1:base_url={HERE}", base_url=THERE)
    with pytest.raises(UsageError, match=r"--base-url http://b.example/v1 has no effect"):
        checked(f"1:base_url={HERE}", f"2:base_url={HERE}", base_url=THERE)


@pytest.mark.parametrize(
    ("texts", "base_url", "fits"),
    [
        ([f"2:base_url={THERE}"], HERE, False),
        ([f"1:base_url={HERE}", f"2:base_url={THERE}"], None, False),
        ([f"2:base_url={THERE}"], None, False),
        ([f"2:base_url={THERE}", "2:key_env=VENDOR_KEY"], HERE, True),
        ([f"2:base_url={THERE}", "2:key_env=none"], HERE, True),
        ([f"2:base_url={THERE}", "2:headers.api-key=$VENDOR_KEY"], HERE, True),
        ([f"2:base_url={THERE}", "2:query.key=$VENDOR_KEY"], HERE, True),
        ([f"2:base_url={THERE}", "key_env=OPENAI_API_KEY"], HERE, True),
        ([f"2:base_url={THERE}", "2:headers.x-team=blue"], HERE, False),
        (["2:base_url=http://a.example/other/v1"], HERE, True),
        (["2:base_url=http://127.0.0.1:1/v1"], HERE, True),
        ([], HERE, True),
    ],
)
def test_no_vendor_gets_the_key_of_another(
    texts: list[str], base_url: str | None, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checked(*texts, base_url=base_url)  # without a key there is nothing to see
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    if fits:
        checked(*texts, base_url=base_url)
    else:
        with pytest.raises(UsageError, match=r"OPENAI_API_KEY would be sent to .*-M 2:key_env=NAME"):
            checked(*texts, base_url=base_url)


def test_arguments_go_with_their_models() -> None:
    texts = ["seed=1", "1:base_url=a", "2:base_url=b", "3:base_url=c"]
    before = ["openai/x", "openai/y", "openai/x"]
    assert rebound(texts, before, before) == tuple(texts)
    assert rebound(texts, before, ["openai/y"]) == ("seed=1", "1:base_url=b")
    assert rebound(texts, before, ["fake/hash", "openai/x"]) == ("seed=1", "2:base_url=a")
    assert rebound(texts, before, ["openai/x", "openai/x"]) == ("seed=1", "1:base_url=a", "2:base_url=c")


@pytest.mark.parametrize(
    "text",
    [
        f"headers.api-key={SECRET}",
        "headers.api-key=plain",
        "headers.Authorization=Bearer abcdefgh",
        "headers.Cookie=a",
        f"headers.x-other={SECRET}",
        f"headers.x-other=a {SECRET} b",
        "headers.x-other=sk-abcdefgh12",
        "headers.x-other=0123456789abcdef0123456789abcdef",
        "query.sig=x",
        f"query.version={SECRET}",
        "headers.api-key=$VENDOR_KEY sk-abcdefgh12",
        f"key_env={SECRET}",
        "key_env=sk-abcdefgh12",
        "key_env=a b",
        "key_env=",
        f"base_url=http://user:{SECRET}@h/v1",
        f"2:base_url=http://user:{SECRET}@h/v1",
    ],
)
def test_a_secret_in_an_argument_is_refused_and_not_shown(text: str) -> None:
    key, _, value = text.partition("=")

    def load() -> None:
        checked(text)
        catalogue.load("openai/a", Settings(base_url=HERE), {key: value})

    with pytest.raises(UsageError) as caught:
        load()
    assert not any(secret in str(caught.value) for secret in (SECRET, "abcdefgh", "0123456789"))
    assert "$" in str(caught.value) or "never the key" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "headers.x-model=gpt-4o-mini-2024-07-18",
        "headers.OpenAI-Organization=org-blue",
        "headers.x-trace=123e4567-e89b-12d3-a456-426614174000",
        "headers.api-key=$VENDOR_KEY",
        "headers.Authorization=Bearer ${VENDOR_KEY}",
        "query.api-version=2024-10-21-preview",
        "query.key=$VENDOR_KEY",
        "key_env=VENDOR_KEY",
        "key_env=none",
    ],
)
def test_what_is_no_secret_is_taken_and_can_be_kept(text: str) -> None:
    key, _, value = text.partition("=")
    model = catalogue.load("openai/a", Settings(base_url=HERE), {key: value})
    assert SECRET not in model.fingerprint
    assert ("VENDOR" in model.fingerprint) is False, "the name of a variable decides no answer"
    kept = RunOptions(model=("openai/a",), model_argument=(text,)).to_json(["openai/a"])
    assert kept["model_argument"] == [text]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"headers": "{}"}, "-M headers has a name behind it: -M headers.NAME=VALUE"),
        ({"query": "a"}, "-M query.NAME=VALUE"),
        ({"headers.a b": "x"}, "no such name"),
        ({"headers.Host": "x"}, "cannot be set"),
        ({"headers.Content-Length": "3"}, "cannot be set"),
        ({"headers.x": "a\nb"}, "cannot be sent"),
        ({"headers.x": "ä"}, "cannot be sent"),
        ({"headers.x": ""}, "empty"),
        ({"name": "a\nb"}, "in one line"),
        ({"name": "a" * 61}, "at most 60"),
        ({"stream": "yes"}, "must be true or false"),
    ],
)
def test_arguments_that_no_request_can_carry_are_refused(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        catalogue.load("openai/a", Settings(base_url=HERE), given)


@pytest.mark.parametrize("given", [{"headers.api-key": "$NO_SUCH_ONE"}, {"key_env": "NO_SUCH_ONE"}])
def test_a_variable_that_is_not_set_is_named(given: dict[str, str]) -> None:
    with pytest.raises(ModelError, match=r"NO_SUCH_ONE.*is not set"):
        catalogue.load("openai/a", Settings(base_url=HERE), given)
    catalogue.load("openai/a", Settings(base_url=HERE, sends=False), given)  # of a dry run


def test_the_fingerprint_has_address_headers_and_query() -> None:
    def of(**given: str) -> str:
        named = {key.replace("__", ".").replace("_k", "-k"): value for key, value in given.items()}
        return catalogue.load("openai/a", Settings(base_url=HERE), named).fingerprint

    different = [
        of(),
        of(base_url=THERE),
        of(headers__x="a"),
        of(headers__x="b"),
        of(headers__api_key="$VENDOR_KEY"),
        of(query__x="a"),
        of(query__x="b"),
        of(query__x="a", query__y="b"),
    ]
    assert len(set(different)) == len(different)
    assert of(headers__X="a") == of(headers__x="a")
    assert of(headers__api_key="$PATH") == of(headers__api_key="$VENDOR_KEY")
    assert of(key_env="VENDOR_KEY") == of(), "another key has the same answers"


ACTING = {"base_url", "key_env", "headers.NAME", "query.NAME", "headers", "query", "prompt"}
"""A file may be called 5, too; the prompts that come with codeaudit are harmless."""


@pytest.mark.thinned(13)
@pytest.mark.parametrize("key", sorted({*ARGUMENTS, "base_url"}))
def test_of_a_manifest_whatever_is_sent_and_where_is_typed_again(key: str) -> None:
    """A number alone is harmless, but not where it says what is sent, or where to."""
    options = {"model": ["openai/a"], "model_argument": [f"1:{key}=5"]}
    assert bool(foreign_arguments(options)) == (key in ACTING)
