"""multiprocessing with fork: a child process with a pipe and an exit code."""

import multiprocessing


def work(connection, n):
    while True:
        got = connection.recv()
        if got is None:
            break
        n += got
        connection.send(n)
    connection.close()
    raise SystemExit(n)


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    mine, its = context.Pipe()
    process = context.Process(target=work, args=(its, 20))
    process.start()
    for n in (1, 2):
        mine.send(n)
        print(mine.recv())
    mine.send(None)
    process.join()
    print(process.exitcode, multiprocessing.active_children())
