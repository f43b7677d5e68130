/* System calls worked out beforehand (`steps.py`), made one after the other by a forked child.

   A child that finds its way in Python touches hundreds of pages of the warm interpreter, and each page that it
   touches is copied. Here it touches its stack. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
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

/* -- paths ------------------------------------------------------------------------------------------ */

enum { MOST_PATHS = 32, PATH_BYTES = 1024 };

static const char *const OPENING[] = {
    "open", "os.mkdir", "os.listdir", "os.scandir", "sqlite3.connect", "ctypes.dlopen", "os.exec",
    "os.posix_spawn", "subprocess.Popen", NULL,
}; /* events whose first argument is a path */
enum { OPEN, MKDIR, LISTDIR, SCANDIR };

static struct {
    char path[PATH_BYTES];
    int writes;
} missing[MOST_PATHS];
static int missing_count, watching, hooked;
static char own[PATH_BYTES]; /* the only folder where files can be made; empty: access(2) knows where */

static int is_below(const char *path, const char *folder)
{
    size_t size = strlen(folder);
    return strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0);
}

/* Whether a new file can be made: its folder can be written to. */
static int can_make(const char *path)
{
    char folder[PATH_BYTES];
    strcpy(folder, path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        return 1; /* where the program runs */
    slash[slash == folder] = 0;
    if (faccessat(AT_FDCWD, folder, W_OK, AT_EACCESS) < 0)
        return 0;
    return own[0] == 0 || path[0] != '/' || is_below(path, own);
}

/* Whether opening a path fails. The file is not changed. Landlock is asked by opening: access(2) does
   not know of it. */
static int fails(const char *path, int writes)
{
    struct statx status; /* `stat` would be of glibc 2.33 */
    if (statx(AT_FDCWD, path, 0, STATX_TYPE, &status) < 0)
        return errno != ENOENT || !writes || !can_make(path);
    int is_folder = S_ISDIR(status.stx_mode);
    if (writes && is_folder)
        return 0; /* that fails everywhere */
    if (faccessat(AT_FDCWD, path, writes ? W_OK : R_OK, AT_EACCESS) < 0)
        return 1;
    if (own[0] == 0 || !(S_ISREG(status.stx_mode) || is_folder))
        return 0;
    int descriptor = open(path, (writes ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0)
        return errno == EACCES;
    close(descriptor);
    return 0;
}

static void note(const char *path, int writes)
{
    for (int n = 0; n < missing_count; n++)
        if (strcmp(missing[n].path, path) == 0)
            return;
    if (missing_count == MOST_PATHS || !fails(path, writes))
        return;
    strcpy(missing[missing_count].path, path);
    missing[missing_count++].writes = writes;
}

static int on_event(const char *event, PyObject *args, void *unused)
{
    if (!watching || args == NULL || !PyTuple_Check(args) || PyTuple_GET_SIZE(args) == 0)
        return 0;
    int n = 0;
    while (OPENING[n] != NULL && strcmp(OPENING[n], event) != 0)
        n++;
    PyObject *path = PyTuple_GET_ITEM(args, 0);
    if (OPENING[n] == NULL || !(PyUnicode_Check(path) || PyBytes_Check(path)))
        return 0;
    int before = errno, writes = n == MKDIR;
    if (n == OPEN && PyTuple_GET_SIZE(args) > 2 && PyLong_Check(PyTuple_GET_ITEM(args, 2)))
        writes = (PyLong_AsLong(PyTuple_GET_ITEM(args, 2)) & O_ACCMODE) != O_RDONLY;
    PyObject *encoded = PyBytes_Check(path) ? Py_NewRef(path) : PyUnicode_EncodeFSDefault(path);
    if (encoded != NULL) {
        const char *text = PyBytes_AS_STRING(encoded);
        size_t size = (size_t)PyBytes_GET_SIZE(encoded);
        int named = n <= SCANDIR || strchr(text, '/') != NULL; /* others are looked up, or are no file */
        int cache = writes && strstr(text, "/__pycache__") != NULL; /* the interpreter's: it does without */
        if (named && !cache && 0 < size && size < PATH_BYTES && strlen(text) == size)
            note(text, writes);
        Py_DECREF(encoded);
    }
    PyErr_Clear();
    errno = before;
    return 0;
}

PyDoc_STRVAR(watch_doc, "watch(folder)\n--\n\n"
    "From now on note the paths that cannot be opened. folder: where Landlock alone says what can be written,\n"
    "the one below which that is; else empty. None: do not note any, but be ready for it.");

static PyObject *watch(PyObject *module, PyObject *arg)
{
    if (!hooked) {
        if (PySys_AddAuditHook(on_event, NULL) < 0)
            return NULL;
        hooked = 1;
    }
    if (arg == Py_None)
        Py_RETURN_NONE;
    char *folder = PyBytes_AsString(arg);
    if (folder == NULL)
        return NULL;
    if (strlen(folder) >= PATH_BYTES) {
        PyErr_SetString(PyExc_ValueError, "the folder has a long path");
        return NULL;
    }
    strcpy(own, folder);
    missing_count = 0;
    watching = 1;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(unopened_doc, "unopened()\n--\n\n"
    "The paths that could not be opened since `watch`, and whether they were to be written. No more are noted.");

static PyObject *unopened(PyObject *module, PyObject *unused)
{
    watching = 0;
    PyObject *paths = PyList_New(missing_count);
    for (int n = 0; paths != NULL && n < missing_count; n++) {
        PyObject *pair = Py_BuildValue("(NN)", PyUnicode_DecodeUTF8(missing[n].path, strlen(missing[n].path),
            "replace"), PyBool_FromLong(missing[n].writes));
        if (pair == NULL)
            Py_CLEAR(paths);
        else
            PyList_SET_ITEM(paths, n, pair);
    }
    return paths;
}

static PyMethodDef methods[] = {
    {"fork", fork_and_run, METH_O, fork_doc},
    {"receive", receive, METH_O, receive_doc},
    {"run", run, METH_O, run_doc},
    {"unopened", unopened, METH_NOARGS, unopened_doc},
    {"watch", watch, METH_O, watch_doc},
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
