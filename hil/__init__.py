"""The bridge: wire protocol HIL/1 between the simulator and flight software over ZeroMQ.

The only package that imports zmq. Nothing is built here yet; `docs/adr/0004-wire-format.md` says
what it will speak.
"""
