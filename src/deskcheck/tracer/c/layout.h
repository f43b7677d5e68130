/* Whether this interpreter is laid out as the one that we were compiled for.

   Within 3.13, for one, fields of the runtime move from 3.13.0 to 3.13.15, and who wrote to the old places ended the
   interpreter. Of another release of the same version we ask what Python's functions tell, too, and look whether it
   stands where we read it. */
#ifndef DESKCHECK_LAYOUT_H
#define DESKCHECK_LAYOUT_H

#include "collector.h"

#if PY_VERSION_HEX >= 0x030E0000
#define LISTS_KEPT(interp) (interp)->object_state.freelists.lists.size
#else
#define LISTS_KEPT(interp) FREE_LISTS_N(interp)
#endif

/* The interpreter says how large its own structures are. */
static bool
sizes_are_ours(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    const struct _Py_DebugOffsets *found = &_PyRuntime.debug_offsets;
    return found->runtime_state.size == sizeof(_PyRuntimeState)
        && found->interpreter_state.size == sizeof(PyInterpreterState)
        && found->thread_state.size == sizeof(PyThreadState)
        && found->interpreter_frame.size == sizeof(_PyInterpreterFrame)
        && found->code_object.size == sizeof(PyCodeObject);
#else
    return true;
#endif
}

static bool
collector_is_there(PyInterpreterState *interp)
{
    int was_on = PyGC_Disable();
    bool off = !interp->gc.enabled;
    PyGC_Enable();
    bool on = interp->gc.enabled == 1;
    if (!was_on) PyGC_Disable();
    PyObject *list = PyList_New(0);
    if (!list) { PyErr_Clear(); return false; }
    Py_ssize_t kept = LISTS_KEPT(interp);
    Py_DECREF(list);
    bool one_more = LISTS_KEPT(interp) == kept + 1 || (kept == 80 && LISTS_KEPT(interp) == kept);  /* all that are kept */
    return off && on && one_more;
}

static bool
main_thread_is_there(void)
{
    PyObject *module = PyImport_ImportModule("threading"), *thread = NULL, *ident = NULL;
    if (module) thread = PyObject_CallMethod(module, "main_thread", NULL);
    if (thread) ident = PyObject_GetAttrString(thread, "ident");
    bool found = ident && PyLong_AsUnsignedLong(ident) == _PyRuntime.main_thread;
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(module);
    PyErr_Clear();
    return found;
}

static bool
is_laid_out_as_ours(void)
{
    if (Py_Version == PY_VERSION_HEX) return true;
    PyThreadState *ts = PyThreadState_Get();
    PyInterpreterState *interp = PyThreadState_GetInterpreter(ts);
    return sizes_are_ours() && ts->interp == interp && _PyRuntime.interpreters.main == PyInterpreterState_Main()
        && interp->ceval.recursion_limit == Py_GetRecursionLimit() && collector_is_there(interp) && main_thread_is_there();
}
#endif
