"""Shuts the reading side of every socket, so that who writes to it is sent SIGPIPE.

Seen: the harness is disturbed, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: against a harness that does not ignore SIGPIPE.
Verdict: wrong, raised, exited, killed.
"""
import os
import socket


def attack():
    for fd in target.sockets():
        socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RD)
