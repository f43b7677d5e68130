/* Lets a builtin function call another one. The object stays what it is: its name, its text, its module, and
 * whoever has imported it already calls the other one too.
 *
 * A builtin is called through its `vectorcall`, or, where the interpreter has specialised a call by the flags
 * of the builtin, directly. So the flags become those that no version specialises. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *replacements; /* of the address of a builtin: what is called in its place */

static PyObject *call_replacement(PyObject *builtin, PyObject *const *arguments, size_t nargsf,
                                  PyObject *names)
{
    PyObject *key = PyLong_FromVoidPtr(builtin);
    if (key == NULL)
        return NULL;
    PyObject *replacement = PyDict_GetItemWithError(replacements, key);
    Py_DECREF(key);
    if (replacement == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "a redirected function has lost its replacement");
        return NULL;
    }
    Py_INCREF(replacement);
    PyObject *result = PyObject_Vectorcall(replacement, arguments, nargsf, names);
    Py_DECREF(replacement);
    if (result == NULL) {
        /* A builtin has no frame of its own in a traceback. */
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        if (value != NULL)
            PyException_SetTraceback(value, Py_None);
        Py_XDECREF(traceback);
        PyErr_Restore(type, value, NULL);
    }
    return result;
}

static PyObject *called_otherwise(PyObject *self, PyObject *arguments, PyObject *names)
{
    PyErr_SetString(PyExc_TypeError, "this function cannot be called by way of its type");
    return NULL;
}

PyDoc_STRVAR(twin_doc, "twin(builtin)\n--\n\nAnother builtin function that does the same.");

static PyObject *twin(PyObject *self, PyObject *builtin)
{
    if (!PyCFunction_CheckExact(builtin))
        return PyErr_Format(PyExc_TypeError, "%R is not a builtin function", builtin);
    PyCFunctionObject *function = (PyCFunctionObject *)builtin;
    return PyCFunction_NewEx(function->m_ml, function->m_self, function->m_module);
}

PyDoc_STRVAR(redirect_doc, "redirect(builtin, replacement)\n--\n\n"
                           "Have a builtin function call a replacement, once and for good.");

static PyObject *redirect(PyObject *self, PyObject *arguments)
{
    PyObject *builtin, *replacement;
    if (!PyArg_ParseTuple(arguments, "O!O:redirect", &PyCFunction_Type, &builtin, &replacement))
        return NULL;
    PyCFunctionObject *function = (PyCFunctionObject *)builtin;
    PyMethodDef *definition = PyMem_RawMalloc(sizeof *definition); /* lives as long as the process */
    if (definition == NULL)
        return PyErr_NoMemory();
    *definition = *function->m_ml;
    definition->ml_meth = (PyCFunction)(void (*)(void))called_otherwise;
    definition->ml_flags = METH_VARARGS | METH_KEYWORDS;
    PyObject *key = PyLong_FromVoidPtr(builtin);
    if (key == NULL || PyDict_SetItem(replacements, key, replacement) < 0) {
        Py_XDECREF(key);
        PyMem_RawFree(definition);
        return NULL;
    }
    Py_DECREF(key);
    Py_INCREF(builtin);
    function->m_ml = definition;
    function->vectorcall = call_replacement;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"redirect", redirect, METH_VARARGS, redirect_doc},
    {"twin", twin, METH_O, twin_doc},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_redirect",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__redirect(void)
{
    if (replacements == NULL && (replacements = PyDict_New()) == NULL)
        return NULL;
    return PyModule_Create(&module);
}
