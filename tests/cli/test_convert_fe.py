"""`darts model convert-fe` on files that need no pyNastran: units, codes, what it overwrites."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from typer.testing import CliRunner, Result

from darts_py.cli.app import app
from darts_py.cli.exit_codes import ExitCode
from darts_py.structures.fe_files import read_elements
from darts_py.structures.fe_model import FiniteElements
from darts_py.structures.matrix_files import MatrixSource
from tests.structures.meshes import beam_mesh


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A beam in millimetres, tonnes and newtons."""
    model = beam_mesh(4)
    arm = np.where(model.component < 3, 0, 1)
    power = arm[:, None] + arm[None, :]
    for name, A, unit in (("k", model.K, 1e3), ("m", model.M, 1e3)):
        scaled = A.toarray() / (unit * 1e-3**power)
        scipy.io.mmwrite(tmp_path / f"{name}.mtx", sp.coo_matrix(scaled), precision=17)
    np.savez(
        tmp_path / "nodes.npz",
        node_id=model.node_id,
        position_m=model.position / 1e-3,
        dofs_per_node=np.array(6),
    )
    return [str(tmp_path / name) for name in ("k.mtx", "m.mtx", "nodes.npz")]


UNITS = ["--length-unit-m", "0.001", "--mass-unit-kg", "1000"]


def convert(*words: str) -> Result:
    return CliRunner().invoke(app, ["model", "convert-fe", *words])


def read(file: Path) -> FiniteElements:
    return read_elements(MatrixSource(file, "stiffness"), MatrixSource(file, "mass"), file)


def test_converted_file_is_in_si_units(tmp_path: Path, files: list[str]) -> None:
    output = tmp_path / "beam.npz"
    result = convert(*files, "-o", str(output), *UNITS)
    assert result.exit_code == ExitCode.OK, result.output
    assert result.stdout == ""
    assert "30 freedoms of 5 nodes, 12 kg" in result.stderr
    found, model = read(output), beam_mesh(4)
    np.testing.assert_allclose(found.position, model.position, rtol=1e-14)
    for A, B in ((found.K, model.K), (found.M, model.M)):
        atol = 1e-14 * abs(B).max()
        np.testing.assert_allclose(A.toarray(), B.toarray(), rtol=1e-13, atol=atol)


def test_existing_file_stays_unless_forced(tmp_path: Path, files: list[str]) -> None:
    output = tmp_path / "beam.npz"
    output.write_text("mine")
    result = convert(*files, "-o", str(output), *UNITS)
    assert result.exit_code == ExitCode.USAGE
    assert "which exists" in result.stderr
    assert "--force overwrites it" in result.stderr
    assert output.read_text() == "mine"
    assert convert(*files, "-o", str(output), *UNITS, "--force").exit_code == ExitCode.OK
    assert read(output).n == 30


@pytest.mark.parametrize(
    ("output", "options", "words"),
    [
        ("none/beam.npz", [], "a file in a folder that exists"),
        ("beam.mat", [], "a file called *.npz"),
        ("beam.npz", ["--length-unit-m", "0"], "--length-unit-m: got 0.0, expected a number > 0"),
        ("beam.npz", ["--mass-unit-kg", "nan"], "--mass-unit-kg"),
        ("beam.npz", ["--force-unit-n", "-1"], "--force-unit-n"),
    ],
)
def test_odd_arguments_are_refused(
    tmp_path: Path, files: list[str], output: str, options: list[str], words: str
) -> None:
    result = convert(*files, "-o", str(tmp_path / output), *options)
    assert result.exit_code == ExitCode.USAGE
    assert words in result.stderr
    assert not (tmp_path / output).exists()


def test_unsound_files_are_named_one_to_a_line(tmp_path: Path, files: list[str]) -> None:
    K = scipy.io.mmread(files[0]).tolil()
    K[0, 0] *= -1.0
    scipy.io.mmwrite(files[0], K.tocoo(), symmetry="general")
    (tmp_path / "m.mtx").write_text("nothing")
    result = convert(*files, "-o", str(tmp_path / "beam.npz"))
    assert result.exit_code == ExitCode.INVALID
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"{files[1]}: mass: got a file that does not begin so in m.mtx")
    scipy.io.mmwrite(files[1], sp.eye(30), symmetry="general")
    result = convert(*files, "-o", str(tmp_path / "beam.npz"))
    assert result.exit_code == ExitCode.INVALID
    assert f"{files[0]}: stiffness: got the diagonal entry" in result.stderr
    assert not (tmp_path / "beam.npz").exists()
