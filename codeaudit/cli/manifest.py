"""What a run folder says about its run."""

import platform
import sys
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from os import cpu_count
from typing import Final

from codeaudit.audit.models.openai.address import redacted
from codeaudit.audit.store import SCHEMA, Manifest
from codeaudit.cli.fleet import meter_of
from codeaudit.cli.job import Job
from codeaudit.cli.options import as_json
from codeaudit.cli.progress import note
from codeaudit.cli.versions import versions
from codeaudit.transforms.errors import RunError

DECISIVE: Final = (
    "task",
    "seed",
    "trials",
    "transforms",
    "sites",
    "variants",
    "execute",
    "attack",
    "corpus",
    "models",
)
"""The fields that decide a run's results."""


def begin(job: Job) -> Manifest:
    """Write the manifest of a run, with the name of the unfinished run that it goes on with, if any."""
    fresh = _manifest(job)
    try:
        old = job.folder.manifest()
    except RunError:
        old = {}
    same = all(old.get(field) == fresh[field] for field in DECISIVE)
    if same and old.get("state") == "running":
        note(f"going on with the run in {job.folder.path}")
        kept = {field: old[field] for field in ("codeaudit", "started", "usage") if field in old}
        fresh = {**fresh, **kept}
    elif old.get("state") == "finished":
        note(f"the finished run in {job.folder.path} is kept in {job.folder.put_aside()}")
    elif old:
        note(f"replacing the run in {job.folder.path}, which was not finished")
    job.folder.write_manifest(fresh)
    return fresh


def stop(job: Job, manifest: Manifest) -> None:
    """Keep what an unfinished run has used so far, if that can be: why it ends is told by another error."""
    with suppress(RunError):
        job.folder.write_manifest(_with_usage(job, manifest))


def finish(job: Job, manifest: Manifest) -> None:
    """Mark the run as finished."""
    done = {"state": "finished", "finished": _now()}
    job.folder.write_manifest({**_with_usage(job, manifest), **done})


def _with_usage(job: Job, manifest: Manifest) -> Manifest:
    """The manifest with what asking each model took in this sitting, after those of earlier ones."""
    meters = [(model.name, meter_of(model)) for model in job.models]
    used = [{"model": name, **meter.usage} for name, meter in meters if meter is not None and meter.usage]
    return {**manifest, "usage": [*manifest["usage"], *used]}


def _manifest(job: Job) -> Manifest:
    models = [
        {
            "name": model.name,
            "fingerprint": model.fingerprint,
            "parameters": model.parameters,
            "noise": model.noise,
        }
        for model in job.models
    ]
    return {
        "schema": SCHEMA,
        "codeaudit": uuid.uuid4().hex,
        "state": "running",
        "started": _now(),
        "finished": None,
        "command": ["codeaudit", *map(redacted, sys.argv[1:])],
        "versions": versions(),
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cores": cpu_count()},
        "task": job.task.name,
        "seed": job.inputs.seeds[0],
        "trials": len(job.inputs.seeds),
        "transforms": list(job.inputs.transforms),
        "sites": job.options.sites,
        "variants": job.options.variants,
        "execute": job.options.execute,
        "attack": {"strategies": job.options.attacks, "budget": job.options.budget}
        if job.options.attacks
        else None,
        "corpus": dict(job.inputs.about),
        "models": models,
        "usage": [],
        "options": {**as_json(job.options), "model": list(job.specs)},
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
