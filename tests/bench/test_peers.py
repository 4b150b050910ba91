from __future__ import annotations

import numpy as np
import pytest

from darts_py.bench import cases, peer_files, peers


@pytest.fixture
def satellite() -> cases.Case:
    return cases.rigid_cases()[-1]


def test_missing_peer_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("DARTS_PEERS_VENV", str(tmp_path))
    for peer in (peers.pinocchio(), peers.mujoco()):
        assert peer.program is None
        assert "tools/peers" in peer.missing


def test_missing_compiler_is_named(monkeypatch, tmp_path):
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "libpinocchio-9.9.dist-info").mkdir(parents=True)
    monkeypatch.setenv("DARTS_PEERS_VENV", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "clang" in peers.pinocchio().missing


def test_pinocchio_file_has_every_link_and_three_vectors(satellite, tmp_path):
    peer_files.write_pinocchio(satellite, tmp_path / "case.txt")
    lines = (tmp_path / "case.txt").read_text().splitlines()
    assert int(lines[0]) == len(satellite.links) == len(lines) - 4
    q = [float(word) for word in lines[-3].split()[1:]]
    assert q[:7] == [*satellite.state.q[4:7], *satellite.state.q[1:4], satellite.state.q[0]]


def test_mujoco_acceleration_of_a_free_base_loses_its_transport_term(satellite, tmp_path):
    peer_files.write_mujoco(satellite, tmp_path / "m.xml", tmp_path / "s.txt")
    R = cases.rotation_matrix(satellite.state.q[:4])
    w, v = satellite.state.u[:3], satellite.state.u[3:6]
    udot = np.zeros(satellite.n_dofs)
    udot[:3] = R @ np.cross(w, v)  # world acceleration while body components stand still
    assert peer_files.from_mujoco(satellite, udot) == pytest.approx(np.zeros(satellite.n_dofs))
