"""Answers with numbers that all have one hash: who puts them into a set compares each with each.

Seen: the harness is disturbed, or the programs beside it have other verdicts.
Stopped at: strict, standard.
Works: where the answer is read by who started it.
Verdict: timed_out, wrong.
"""
import time


def answer(n):
    many = b",".join(b'["int", "%x"]' % (each * ((1 << 61) - 1)) for each in range(1 << 53, (1 << 53) + 60000))
    target.channel()(b'answer ["tuple", "returned", ["set", 1, ' + many + b'], ["tuple"]]')
    time.sleep(60)
    return n
