/* System calls worked out beforehand (`steps.py`), made one after the other by a forked child.

   A child that finds its way in Python touches hundreds of pages of the warm interpreter, and each page that it
   touches is copied. Here it touches its stack. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STORE_PID = -1 }; /* instead of a call: write this process's number, times the second argument */
enum { NONE = -1 };

typedef struct {
    long number;
    long arguments[5];
    long last; /* which argument is the result of the step before; NONE */
} Step;

static int make(const Step *steps, Py_ssize_t count)
{
    long result = 0;
    for (Py_ssize_t n = 0; n < count; n++) {
        Step step = steps[n];
        if (step.number == STORE_PID) {
            *(int *)step.arguments[0] = (int)getpid() * (int)step.arguments[1];
            continue;
        }
        if (step.last != NONE)
            step.arguments[step.last] = result;
        long *a = step.arguments;
        result = syscall(step.number, a[0], a[1], a[2], a[3], a[4]);
        if (result < 0) {
            int number = errno;
            PyObject *args = Py_BuildValue("(iN)", number,
                PyUnicode_FromFormat("step %zd, system call %ld: %s", n, step.number, strerror(number)));
            if (args != NULL) {
                PyErr_SetObject(PyExc_OSError, args);
                Py_DECREF(args);
            }
            return -1;
        }
    }
    return 0;
}

static int whole(Py_buffer *steps)
{
    if (steps->len % (Py_ssize_t)sizeof(Step) == 0)
        return 1;
    PyErr_Format(PyExc_ValueError, "%zd bytes are no whole number of steps", steps->len);
    return 0;
}

PyDoc_STRVAR(run_doc, "run(steps)\n--\n\nMake the calls. Raises OSError at the first that fails.");

static PyObject *run(PyObject *module, PyObject *arg)
{
    Py_buffer steps;
    if (PyObject_GetBuffer(arg, &steps, PyBUF_SIMPLE) < 0)
        return NULL;
    int failed = !whole(&steps) || make(steps.buf, steps.len / (Py_ssize_t)sizeof(Step)) < 0;
    PyBuffer_Release(&steps);
    if (failed)
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(fork_doc, "fork(steps)\n--\n\n"
    "fork(2) alone (`kernel.fork`), and the calls in the child. Its number; 0 in the child.\n\n"
    "Raises OSError where it cannot be forked, and in the child where a call fails.");

static PyObject *fork_and_run(PyObject *module, PyObject *arg)
{
    Py_buffer steps;
    if (PyObject_GetBuffer(arg, &steps, PyBUF_SIMPLE) < 0)
        return NULL;
    PyObject *answer = NULL;
    if (whole(&steps)) {
        pid_t pid = fork();
        if (pid < 0)
            PyErr_SetFromErrno(PyExc_OSError);
        else if (pid > 0 || make(steps.buf, steps.len / (Py_ssize_t)sizeof(Step)) == 0)
            answer = PyLong_FromLong(pid);
    }
    PyBuffer_Release(&steps);
    return answer;
}

/* Read so many bytes: 1; 0 at the end of the stream; -1 with an exception set. */
static int read_whole(int descriptor, char *into, Py_ssize_t size)
{
    while (size > 0) {
        ssize_t count = read(descriptor, into, (size_t)size);
        if (count == 0)
            return 0;
        if (count < 0) {
            if (errno == EINTR && PyErr_CheckSignals() == 0)
                continue;
            if (!PyErr_Occurred())
                PyErr_SetFromErrno(PyExc_OSError);
            return -1;
        }
        into += count;
        size -= count;
    }
    return 1;
}

PyDoc_STRVAR(receive_doc, "receive(descriptor)\n--\n\n"
    "The next message: its length in four bytes, and that many more. None at the end. Raises OSError.");

static PyObject *receive(PyObject *module, PyObject *arg)
{
    int descriptor = (int)PyLong_AsLong(arg);
    if (descriptor == -1 && PyErr_Occurred())
        return NULL;
    unsigned char head[4];
    int got = read_whole(descriptor, (char *)head, sizeof head);
    PyObject *message = NULL;
    if (got == 1) {
        Py_ssize_t size = (Py_ssize_t)head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3];
        message = PyBytes_FromStringAndSize(NULL, size);
        if (message == NULL)
            return NULL;
        got = read_whole(descriptor, PyBytes_AS_STRING(message), size);
    }
    if (got == 1)
        return message;
    Py_XDECREF(message);
    if (got < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"fork", fork_and_run, METH_O, fork_doc},
    {"receive", receive, METH_O, receive_doc},
    {"run", run, METH_O, run_doc},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_syscalls",
    .m_size = 0,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__syscalls(void)
{
    return PyModuleDef_Init(&module);
}
