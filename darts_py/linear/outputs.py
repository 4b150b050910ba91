"""Outputs of a linear model: local coordinates, speeds, and what nodes do.

Of a node "body.node", axes those of its body unless said otherwise:

    px py pz    position, world axes, m          rx ry rz    small rotation from the reference, rad
    vx vy vz    velocity, m/s                    wx wy wz    angular rate, rad/s
    ax ay az    inertial acceleration, m/s2      alx aly alz angular acceleration, rad/s2

Velocity and acceleration are those of `darts_py.node_motion`. Position and rotation follow from
the node's Jacobian, so they contain the bending of every body between the node and the ground,
to first order in the modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from darts_py import dynamics
from darts_py.linear.freedoms import Freedoms
from darts_py.linear.names import (
    ACCELERATION,
    NODE_OUTPUTS,
    POSITION,
    ROTATION,
    VELOCITY,
    held_displacements,
    held_speeds,
    local_names,
)
from darts_py.linear.reference import Reference
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft


class Channel(NamedTuple):
    """One output: its kind, and where it is found."""

    kind: str  # delta | speed | position | rotation | velocity | acceleration
    row: int  # in the local coordinates, the speeds, or the node's vector
    node: str = ""


_KINDS = (
    (POSITION, "position"),
    (ROTATION, "rotation"),
    (VELOCITY, "velocity"),
    (ACCELERATION, "acceleration"),
)


def output_catalogue(model: Spacecraft) -> dict[str, Channel]:
    """Return every output by its name; locked joints have none."""
    free, loose = (np.flatnonzero(~held(model)) for held in (held_speeds, held_displacements))
    names = local_names(model)
    channels = {names[j]: Channel("delta", int(j)) for j in loose}
    channels |= {model.speed_names[j]: Channel("speed", int(j)) for j in free}
    for node in model.node_index:
        for words, kind in _KINDS:
            channels |= {f"{node}.{word}": Channel(kind, k, node) for k, word in enumerate(words)}
    assert len(NODE_OUTPUTS) == sum(len(words) for words, _ in _KINDS)
    return channels


def default_outputs(model: Spacecraft) -> list[str]:
    """Return the outputs where none are chosen: all local coordinates, then all speeds."""
    free, loose = (np.flatnonzero(~held(model)) for held in (held_speeds, held_displacements))
    names = local_names(model)
    return [names[j] for j in loose] + [model.speed_names[j] for j in free]


@dataclass(frozen=True)
class NodeOutputs:
    """What nodes do, sampled for differentiation: velocities, then accelerations."""

    model: Spacecraft
    terms: str
    moving: tuple[str, ...]  # nodes whose velocity is asked for
    accelerating: tuple[str, ...]  # nodes whose acceleration is asked for

    def sample(self, q: Array, u: Array, udot: Array) -> Array:
        """Return the velocities and accelerations of the nodes, six numbers each."""
        parts = [dynamics.node_motion(self.model, q, u, node=node).V for node in self.moving]
        parts += [
            dynamics.node_motion(self.model, q, u, udot, node=node, terms=self.terms).A
            for node in self.accelerating
        ]
        return np.concatenate([*parts, np.zeros(0)])

    def place(self, channel: Channel) -> int:
        """Return where a velocity or acceleration is found in `sample`."""
        if channel.kind == "velocity":
            return 6 * self.moving.index(channel.node) + channel.row
        return 6 * (len(self.moving) + self.accelerating.index(channel.node)) + channel.row


def node_outputs(model: Spacecraft, terms: str, channels: list[Channel]) -> NodeOutputs:
    """Return the sampler of the nodes that the channels need."""
    nodes = {
        kind: tuple(dict.fromkeys(c.node for c in channels if c.kind == kind))
        for kind in ("velocity", "acceleration")
    }
    return NodeOutputs(model, terms, nodes["velocity"], nodes["acceleration"])


class OutputRows:
    """Rows of C, D and the reference outputs, channel by channel."""

    def __init__(
        self,
        nodes: NodeOutputs,
        freedoms: Freedoms,
        sampled: Array,
        response: Array,
        reference: Reference,
    ) -> None:
        """Take what the rows are made of.

        Args:
            nodes: the sampler.
            freedoms: at the state.
            sampled: derivatives of the samples by the states           (n_samples, n_states).
            response: accelerations per unit of input                   (n_speeds, n_inputs).
            reference: what the outputs deviate from.
        """
        self._nodes, self._f = nodes, freedoms
        self._sampled, self._response, self._state = sampled, response, reference
        self._reference = nodes.sample(reference.q, reference.u, reference.udot)
        self._motion: dict[str, dynamics.NodeMotion] = {}

    def all(self, channels: list[Channel]) -> tuple[Array, Array, Array]:
        """Return C (n, n_states), D (n, n_inputs) and the reference outputs (n,)."""
        n_states = self._f.Nd.shape[1] + self._f.Nu.shape[1]
        C, D = (np.zeros((len(channels), n)) for n in (n_states, self._response.shape[1]))
        y = np.zeros(len(channels))
        for k, channel in enumerate(channels):
            C[k], D[k], y[k] = self.row(channel)
        return C, D, y

    def row(self, channel: Channel) -> tuple[Array, Array, float]:
        """Return rows of C (n_states,) and D (n_inputs,), and the value at the reference."""
        none = np.zeros(self._response.shape[1])
        blank = np.zeros(self._f.Nu.shape[1])
        if channel.kind == "delta":
            return np.concatenate([self._f.Nd[channel.row], blank]), none, 0.0
        if channel.kind == "speed":
            row = np.concatenate([self._f.L[channel.row], self._f.Nu[channel.row]])
            return row, none, float(self._state.u[channel.row])
        if channel.kind in ("position", "rotation"):
            row, value = self._displacement(channel)
            return np.concatenate([row, blank]), none, value
        place = self._nodes.place(channel)
        value = float(self._reference[place])
        if channel.kind == "velocity":
            return self._sampled[place], none, value
        J = self._node(channel.node).J
        return self._sampled[place], J[channel.row] @ self._response, value

    def _displacement(self, channel: Channel) -> tuple[Array, float]:
        """Return d(position or rotation) / d delta_I: the Jacobian times Gamma^-1 Nd."""
        node = self._node(channel.node)
        per_delta = np.linalg.solve(self._f.Gamma.T, node.J.T).T @ self._f.Nd
        if channel.kind == "rotation":
            return per_delta[channel.row], 0.0
        return (node.R @ per_delta[3:])[channel.row], float(node.r_N[channel.row])

    def _node(self, name: str) -> dynamics.NodeMotion:
        if name not in self._motion:
            q, u = self._state.q, self._state.u
            motion = dynamics.node_motion(self._nodes.model, q, u, node=name, deformed=True)
            self._motion[name] = motion
        return self._motion[name]
