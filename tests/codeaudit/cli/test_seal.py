"""`codeaudit seal` and `unseal` as a user types them."""

import stat
from pathlib import Path

import pytest

from codeaudit.audit.models import catalogue
from codeaudit.audit.models.provider import Settings
from codeaudit.cli.seal import SCHEMES
from codeaudit.transforms.columns import sealing
from codeaudit.transforms.errors import ModelError
from tests.support.checkpoints import write_checkpoint
from tests.support.commands import called, codeaudit


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "plain")


def test_the_schemes_are_the_engine_s() -> None:
    assert SCHEMES == sealing.SCHEMES


@pytest.mark.slow
def test_there_and_back(plain: Path, tmp_path: Path) -> None:
    done = codeaudit("seal", "plain", "--key", "key", "--out", "sealed", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert "nothing else restores the weights from the sealed copy" in done.stderr
    assert {path.name for path in (tmp_path / "sealed").iterdir()} == {
        *(path.name for path in plain.iterdir()),
        "seal.json",
    }
    again = called("seal", "plain", "--key", "key", "--out", "cipher", "--scheme", "cipher", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "new key" not in again.stderr
    for name in ("sealed", "cipher"):
        back = called("unseal", name, "--key", "key", "--out", f"back-{name}", cwd=tmp_path)
        assert back.returncode == 0, back.stderr
        for path in plain.iterdir():
            assert (tmp_path / f"back-{name}" / path.name).read_bytes() == path.read_bytes()
    (tmp_path / "key").unlink()
    called("seal", "plain", "--key", "key", "--out", "other", "--scheme", "cipher", cwd=tmp_path)
    wrong = called("unseal", "sealed", "--key", "key", "--out", "never", cwd=tmp_path)
    assert wrong.returncode == 3
    assert wrong.stderr.count("\n") == 1
    assert "not the key" in wrong.stderr
    assert not (tmp_path / "never").exists()


def test_a_sealed_checkpoint_is_told_before_it_is_traced(plain: Path, tmp_path: Path) -> None:
    (plain / "seal.json").write_text("{}")
    done = called("seal", "plain", "--key", "key", "--out", "sealed", cwd=tmp_path)
    assert done.returncode == 3
    assert done.stderr == "codeaudit: 'plain' is sealed already\n"


def test_a_checkpoint_that_cannot_be_traced_is_told_the_other_scheme(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*words: object, **options: object) -> None:
        raise ModelError("cannot trace Network")

    monkeypatch.setattr("codeaudit.audit.papers.permutation_equivariance.sealing.plan", fails)
    done = called("seal", "plain", "--key", "key", "--out", "sealed", cwd=tmp_path)
    assert done.stderr.endswith("codeaudit: cannot trace Network; use --scheme cipher\n")


@pytest.mark.slow
def test_a_sealed_checkpoint_that_is_loaded_says_so(
    plain: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for scheme in SCHEMES:
        words = ("seal", "plain", "--key", "key", "--out", scheme, "--scheme", scheme)
        assert called(*words, cwd=tmp_path).returncode == 0
    catalogue.load(str(tmp_path / "columns"), Settings(device="cpu"), {})
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("codeaudit.")]
    assert len(messages) == 1
    assert "is sealed: without its key it answers worse; codeaudit unseal" in messages[0]
    with pytest.raises(ModelError, match=r"are encrypted; first: codeaudit unseal .*cipher --key KEY"):
        catalogue.load(str(tmp_path / "cipher"), Settings(device="cpu"), {})


@pytest.mark.thinned(6)
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("seal", "nowhere", "--key", "key", "--out", "out"), 3, "neither a folder nor a bundled name"),
        (("seal", "empty", "--key", "key", "--out", "out"), 3, "no config.json"),
        (("seal", "plain", "--key", "key", "--out", "plain"), 3, "not an empty folder"),
        (("seal", "plain", "--key", "plain/key", "--out", "out"), 2, "keep it elsewhere"),
        (("seal", "plain", "--key", "out/key", "--out", "out"), 2, "keep it elsewhere"),
        (
            ("seal", "plain", "--key", "nowhere/key", "--out", "out", "--scheme", "cipher"),
            3,
            "cannot write the key",
        ),
        (("seal", "plain", "--key", "plain/config.json", "--out", "out"), 2, "keep it elsewhere"),
        (
            ("seal", "plain", "--key", "text", "--out", "out", "--scheme", "cipher"),
            3,
            "no key of codeaudit seal",
        ),
        (("seal", "plain", "--out", "out"), 2, "--key"),
        (("seal", "plain", "--key", "key", "--out", "out", "--scheme", "rot13"), 2, "rot13"),
        (("unseal", "plain", "--key", "text", "--out", "out"), 3, "no key of codeaudit seal"),
        (("unseal", "nowhere", "--key", "key", "--out", "out"), 3, "no such folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    plain: Path, tmp_path: Path, words: tuple[str, ...], code: int, told: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("my secret")
    before = sorted(tmp_path.rglob("*"))
    done = called(*words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(tmp_path.rglob("*")) == before, "nothing is left, no key either"


def test_a_key_that_others_can_read_is_told(plain: Path, tmp_path: Path) -> None:
    words = ("seal", "plain", "--key", "key", "--scheme", "cipher", "--out")
    called(*words, "one", cwd=tmp_path)
    (tmp_path / "key").chmod(0o644)
    done = called(*words, "two", cwd=tmp_path)
    assert done.returncode == 0
    assert "can be read by others" in done.stderr


@pytest.mark.slow
def test_a_run_compares_the_permuted_model_with_the_plain_one(
    plain: Path, sources: Path, tmp_path: Path
) -> None:
    done = codeaudit(
        *("run", "--model", str(plain), "--corpus", str(sources), "--wrap", "columns", "--variants", "1"),
        *("--transform", "identity", "--no-controls", "--workers", "1", "--out", "run", "--format", "json"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    import json

    (model,) = json.loads(done.stdout)["models"]
    assert model["noise_floor"]["total"] > 0
    assert model["noise_floor"]["count"] == 0
    assert 0 < model["by_transform"][0]["max_deviation"] < 1e-4


@pytest.mark.slow
def test_a_model_without_weights_cannot_be_wrapped(sources: Path, tmp_path: Path) -> None:
    words = ("run", "--model", "fake/hash", "--corpus", str(sources), "--wrap", "columns", "--out", "run")
    done = codeaudit(*words, cwd=tmp_path)
    assert done.returncode == 3
    assert "no weights here" in done.stderr
