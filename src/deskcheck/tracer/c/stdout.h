/* Hears what is written to a text stream, through its own `write`: the stream stays the object that it is, and no frame
   of ours is on the stack while it writes. */
#ifndef DESKCHECK_STDOUT_H
#define DESKCHECK_STDOUT_H

#include "interpreter.h"

/* A list of tuples: the address of the stream, which dies when it would without us, and the functions that are called with
   each text. */
static PyObject *hearings;
static PyCFunction plain_write;

static PyObject *
write_and_tell(PyObject *self, PyObject *text)
{
    PyObject *count = plain_write(self, text);
    for (Py_ssize_t i = 0; count && i < PyList_GET_SIZE(hearings); i++) {
        PyObject *hearing = PyList_GET_ITEM(hearings, i);
        if (PyLong_AsVoidPtr(PyTuple_GET_ITEM(hearing, 0)) != self) continue;
        Py_INCREF(hearing);
        for (Py_ssize_t k = 1; count && k < PyTuple_GET_SIZE(hearing); k++) {
            PyObject *done = PyObject_CallOneArg(PyTuple_GET_ITEM(hearing, k), text);
            if (!done) Py_CLEAR(count);
            Py_XDECREF(done);
        }
        Py_DECREF(hearing);
    }
    return count;
}

/* hear(stream, *functions): call these with what an io.TextIOWrapper writes, once it is written; what is returned ends it. */
static PyObject *
hear(PyObject *Py_UNUSED(module), PyObject *args)
{
    if (!hearings) {
        PyObject *io = PyImport_ImportModule("_io"), *type = io ? PyObject_GetAttrString(io, "TextIOWrapper") : NULL;
        PyObject *write = type ? PyObject_GetAttrString(type, "write") : NULL;
        Py_XDECREF(io);
        Py_XDECREF(type);
        if (!write) return NULL;
        if (!Py_IS_TYPE(write, &PyMethodDescr_Type)) return PyErr_Format(PyExc_TypeError, "TextIOWrapper.write is a %s", Py_TYPE(write)->tp_name);
        hearings = PyList_New(0);
        if (!hearings) return NULL;
        PyMethodDef *method = ((PyMethodDescrObject *)write)->d_method;
        plain_write = method->ml_meth;
        method->ml_meth = write_and_tell;
        Py_DECREF(write);
    }
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    if (n == 0) return PyErr_Format(PyExc_TypeError, "hear(stream, *functions)");
    PyObject *hearing = PyTuple_New(n), *address = hearing ? PyLong_FromVoidPtr(PyTuple_GET_ITEM(args, 0)) : NULL;
    if (!address) { Py_XDECREF(hearing); return NULL; }
    PyTuple_SET_ITEM(hearing, 0, address);
    for (Py_ssize_t k = 1; k < n; k++) PyTuple_SET_ITEM(hearing, k, Py_NewRef(PyTuple_GET_ITEM(args, k)));
    if (PyList_Append(hearings, hearing) < 0) Py_CLEAR(hearing);
    return hearing;
}

/* hear_no_more(hearing): end what `hear` returned. */
static PyObject *
hear_no_more(PyObject *Py_UNUSED(module), PyObject *hearing)
{
    for (Py_ssize_t i = hearings ? PyList_GET_SIZE(hearings) : 0; i-- > 0; )
        if (PyList_GET_ITEM(hearings, i) == hearing && PyList_SetSlice(hearings, i, i + 1, NULL) < 0) return NULL;
    Py_RETURN_NONE;
}
#endif
