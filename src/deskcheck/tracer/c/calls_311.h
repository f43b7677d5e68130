/* Calls of methods on 3.11. For a profiler the interpreter makes a bound method of a method in C and its `self`
   (`trace_call_function` in ceval.c), and does so for a tracer, too. It holds a reference to `self`, which the method can count:
   `ndarray.resize` refuses. While a tracer is on, what is made there for recorded code holds none: it is called at once, with
   `self` before its arguments on the value stack, and forgotten. 3.12 and later call methods as without a tracer. */
#if PY_VERSION_HEX < 0x030C0000
typedef struct { PyObject_HEAD vectorcallfunc call; PyObject *method; } Unbound;

static descrgetfunc BINDS;             /* what binds methods in C without us */
static IFrame *calling;                /* the frame whose instruction runs such a call now */

static PyObject *
unbound_call(PyObject *o, PyObject *const *arguments, size_t nargsf, PyObject *names)
{
    IFrame *before = calling;
    calling = PyThreadState_Get()->cframe->current_frame;
    PyObject *result = PyObject_Vectorcall(((Unbound *)o)->method, arguments - 1, (size_t)PyVectorcall_NARGS(nargsf) + 1, names);
    calling = before;
    return result;
}

static void
unbound_dealloc(PyObject *o)
{
    Py_DECREF(((Unbound *)o)->method);
    PyObject_Free(o);
}

static PyTypeObject UnboundType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "deskcheck.tracer._native.Unbound",
    .tp_basicsize = sizeof(Unbound),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Unbound, call),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = unbound_dealloc,
};

/* Whether it is the interpreter's call of this method that asks: not code in C that runs in a call and looks the method up. */
static bool
is_about_to_call(PyObject *method, PyObject *self)
{
    PyThreadState *ts = PyThreadState_Get();
    IFrame *f = ts->cframe->current_frame;
    if (!watching || !ts->cframe->use_tracing || ts->c_profilefunc || ts->next || ts->prev || !f || f == calling || f->stacktop >= 0) return false;
    const Info *info = known_info(watching, f->f_code);
    int lasti = frame_lasti(f);
    if (!info || !info->in_scope || lasti < 0) return false;
    int unit = info->owner[lasti / 2] / 2, size = info->operands[unit];
    if (size < 2 || info->depth[unit] < size || !(info->op[unit] & OP_CALLS)) return false;
    PyObject **slots = f->localsplus + info->nnames + info->depth[unit] - size;
    return slots[0] == method && slots[1] == self;
}

static PyObject *
bind_method(PyObject *method, PyObject *self, PyObject *type)
{
    if (!self || !is_about_to_call(method, self)) return BINDS(method, self, type);
    Unbound *unbound = PyObject_New(Unbound, &UnboundType);
    if (!unbound) return NULL;
    unbound->call = unbound_call;
    unbound->method = Py_NewRef(method);
    return (PyObject *)unbound;
}

static void
bind_unbound(bool on)
{
    if (on == (BINDS != NULL)) return;
    if (on) BINDS = PyMethodDescr_Type.tp_descr_get;
    PyMethodDescr_Type.tp_descr_get = on ? bind_method : BINDS;
    if (!on) BINDS = NULL;
}
#else
static void bind_unbound(bool Py_UNUSED(on)) {}
#endif
