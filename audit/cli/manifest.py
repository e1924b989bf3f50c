"""What a run folder says about its run."""

import platform
import sys
import uuid
from datetime import UTC, datetime
from os import cpu_count
from typing import Final

from audit.cli.job import Job
from audit.cli.options import as_json
from audit.cli.progress import note
from audit.cli.versions import versions
from audit.store import SCHEMA, Manifest
from transforms.errors import RunError

DECISIVE: Final = ("task", "seed", "trials", "transforms", "sites", "variants", "execute", "corpus", "models")
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
        fresh = {**fresh, "codeaudit": old["codeaudit"], "started": old["started"]}
    elif old:
        note(f"replacing the run in {job.folder.path}")
    job.folder.write_manifest(fresh)
    return fresh


def finish(job: Job, manifest: Manifest) -> None:
    """Mark the run as finished."""
    job.folder.write_manifest({**manifest, "state": "finished", "finished": _now()})


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
        "command": ["codeaudit", *sys.argv[1:]],
        "versions": versions(),
        "machine": {"system": platform.platform(), "processor": platform.machine(), "cores": cpu_count()},
        "task": job.task.name,
        "seed": job.inputs.seeds[0],
        "trials": len(job.inputs.seeds),
        "transforms": list(job.inputs.transforms),
        "sites": job.options.sites,
        "variants": job.options.variants,
        "execute": job.options.execute,
        "corpus": dict(job.inputs.about),
        "models": models,
        "options": {**as_json(job.options), "model": list(job.specs)},
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
