/* The program's first frame begins the chain of its thread, as under the interpreter alone: none of ours is below it. */
#ifndef DESKCHECK_OUTERMOST_H
#define DESKCHECK_OUTERMOST_H

#include "collector.h"

/* What is cut off while the program runs: frames, and the recursion that they count as. */
typedef struct { IFrame *frame; Recursion used; } Below;

static inline IFrame **
current_frame_of(PyThreadState *ts)
{
#if PY_VERSION_HEX >= 0x030D0000
    return &ts->current_frame;
#else
    return &ts->cframe->current_frame;
#endif
}

/* The recursion from here down to a frame, NULL for all: our Python frames, and for C two levels, the call of a function here
   and the evaluation that it enters. */
static Recursion
recursion_down_to(PyThreadState *ts, IFrame *base)
{
    int frames = 0;
    for (IFrame *f = *current_frame_of(ts); f && f != base; f = f->previous) frames += !_PyFrame_IsIncomplete(f);
#if PY_VERSION_HEX >= 0x030C0000
    if (!base) return (Recursion){ts->py_recursion_limit - ts->py_recursion_remaining, LIMIT_OF_C - C_RECURSION(ts)};
    return (Recursion){frames, 2};
#else
    if (!base) return (Recursion){ts->recursion_limit - ts->recursion_remaining, 0};
    return (Recursion){frames + 1, 0};
#endif
}

static void
count_recursion(PyThreadState *ts, Recursion used, int sign)
{
#if PY_VERSION_HEX >= 0x030C0000
    ts->py_recursion_remaining += sign * used.python;
    C_RECURSION(ts) += sign * used.c;
#else
    ts->recursion_remaining += sign * used.python;
#endif
}

static Below
cut_off(PyThreadState *ts, IFrame *base)
{
    Below below = {*current_frame_of(ts), recursion_down_to(ts, base)};
    *current_frame_of(ts) = base;
    count_recursion(ts, below.used, 1);
    collector_leaves_us(ts);
    return below;
}

static void
join_again(PyThreadState *ts, Below below)
{
    collector_is_held_again(ts);
    *current_frame_of(ts) = below.frame;
    count_recursion(ts, below.used, -1);
}

/* evaluate(code, names): run code in a namespace, as its thread's first frame. */
static PyObject *
outermost_evaluate(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code, *names;
    if (!PyArg_ParseTuple(args, "O!O!", &PyCode_Type, &code, &PyDict_Type, &names)) return NULL;
    PyThreadState *ts = PyThreadState_Get();
    Below below = cut_off(ts, NULL);
    PyObject *result = PySys_Audit("exec", "O", code) < 0 ? NULL : PyEval_EvalCode(code, names, names);
    join_again(ts, below);
    return result;
}

/* call(frame, function, *args, **kwargs): call a function as this frame would, which is below; None: as its thread's first. */
static PyObject *
outermost_call(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    if (n < 2 || !(args[0] == Py_None || PyFrame_Check(args[0]))) {
        PyErr_SetString(PyExc_TypeError, "call(frame, function, *args, **kwargs)");
        return NULL;
    }
    PyThreadState *ts = PyThreadState_Get();
    Below below = cut_off(ts, args[0] == Py_None ? NULL : ((PyFrameObject *)args[0])->f_frame);
    PyObject *result = PyObject_Vectorcall(args[1], args + 2, (size_t)(n - 2), names);
    join_again(ts, below);
    return result;
}

/* show(error): what the interpreter does with an exception that leaves the program; none of its frames is there any more. */
static PyObject *
outermost_show(PyObject *Py_UNUSED(module), PyObject *error)
{
    if (!PyExceptionInstance_Check(error)) {
        PyErr_SetString(PyExc_TypeError, "show(exception)");
        return NULL;
    }
    PyThreadState *ts = PyThreadState_Get();
    Below below = cut_off(ts, NULL);
    PyErr_Restore(Py_NewRef(Py_TYPE(error)), Py_NewRef(error), PyException_GetTraceback(error));
    PyErr_Print();
    join_again(ts, below);
    Py_RETURN_NONE;
}
#endif
