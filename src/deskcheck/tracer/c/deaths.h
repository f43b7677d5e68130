/* Deaths. An object may be freed and another made at its address between two events, and to keep a reference, a weak one even,
   would change the program (`ndarray.resize` refuses then). So while a tracer is on, the `tp_dealloc` of types written in C is
   ours: it notes the death, and goes on. The instances of a class written in Python come to it by the class that is written in C
   which theirs derives from: `subtype_dealloc` calls its `tp_dealloc` in the end. */

enum { OWN_TOOL = 4 };        /* of sys.monitoring, on 3.12 and later */
#define OWN_NAME "deskcheck"  /* of ours and of the observer of test suites there */

enum { MAX_WATCHED = 256 };
static struct { PyTypeObject *type; destructor original; bool on, has_trashcan; } watched[MAX_WATCHED];
static int nwatched;         /* a type keeps its place for good: a type made meanwhile may have inherited what stands there */
static Core *watching;       /* whose threads are notified */
static destructor SUBTYPE_DEALLOC;  /* of every class that is written in Python */

static void note_death(PyObject *o);
static void forget_address(uint64_t address);
static bool is_foreign(void);

/* A trashcan in the `tp_dealloc` of a type works only where that is the type's own: so ours has one, where the interpreter's has. */
static void
dealloc(PyObject *o, int n, destructor own)
{
    note_death(o);
    bool comes_back = watched[n].type && watched[n].type->tp_finalize;  /* its finaliser may let others see it once more */
    if (watched[n].has_trashcan) {
        PyObject_GC_UnTrack(o);
        Py_TRASHCAN_BEGIN(o, own)
        watched[n].original(o);
        Py_TRASHCAN_END
    } else watched[n].original(o);
    if (comes_back && !is_foreign()) forget_address((uint64_t)o);  /* it is gone, or has been kept by its finaliser */
}

#define DEATH(n) static void death_##n(PyObject *o) { dealloc(o, 0x##n, death_##n); }
#define NAME(n) death_##n,
#define ROW(f, x) f(x##0) f(x##1) f(x##2) f(x##3) f(x##4) f(x##5) f(x##6) f(x##7) f(x##8) f(x##9) f(x##A) f(x##B) f(x##C) f(x##D) \
    f(x##E) f(x##F)
#define ALL(f) ROW(f, 0) ROW(f, 1) ROW(f, 2) ROW(f, 3) ROW(f, 4) ROW(f, 5) ROW(f, 6) ROW(f, 7) ROW(f, 8) ROW(f, 9) ROW(f, A) \
    ROW(f, B) ROW(f, C) ROW(f, D) ROW(f, E) ROW(f, F)
ALL(DEATH)
static const destructor deaths[] = {ALL(NAME)};
#undef ALL
#undef ROW
#undef NAME
#undef DEATH

/* Have the deaths of a type's instances noted. False where that cannot be: too many types are watched. */
static bool
watch(PyTypeObject *type)
{
    while (type->tp_dealloc == SUBTYPE_DEALLOC && type->tp_base) type = type->tp_base;
    for (int i = 0; i < nwatched; i++)  /* by the type, or inherited */
        if (watched[i].on && type->tp_dealloc == deaths[i]) return true;
    int n = 0;
    while (n < nwatched && watched[n].type != type) n++;
    if (n == MAX_WATCHED) return false;
    if (n == nwatched) {
        watched[nwatched++].type = type;
        PyTypeObject *const with_trashcan[] = {&PyList_Type, &PyDict_Type, &PySet_Type, &PyTuple_Type, (PyTypeObject *)PyExc_BaseException};
        for (size_t i = 0; i < sizeof with_trashcan / sizeof *with_trashcan; i++) {
            destructor theirs = with_trashcan[i]->tp_dealloc;
            for (int k = 0; k < nwatched; k++) if (theirs == deaths[k]) theirs = watched[k].original;
            watched[n].has_trashcan |= theirs == type->tp_dealloc;
        }
    }
    watched[n].original = type->tp_dealloc;
    watched[n].on = true;
    type->tp_dealloc = deaths[n];
    return true;
}

static void
unwatch_all(void)
{
    for (int i = 0; i < nwatched; i++) {
        if (watched[i].on) watched[i].type->tp_dealloc = watched[i].original;
        watched[i].on = false;
    }
    forget_versions();
    watching = NULL;
}

/* A class that is freed is watched no more. */
static void
unwatch(PyTypeObject *type)
{
    for (int i = 0; i < nwatched; i++)
        if (watched[i].type == type) { watched[i].type = NULL; watched[i].on = false; }
}

static void hold(Thread *t, PyObject *o) { Py_INCREF(o); pys_add(&t->held, o); }
static void
release(Thread *t)
{
    while (t->attached.n) {
        SequenceIterator *it = (SequenceIterator *)t->attached.p[--t->attached.n];
        Py_CLEAR(it->over);  /* the stack has it too */
    }
    while (t->held.n) Py_DECREF(t->held.p[--t->held.n]);
}

/* Keep a value for the rest of the event, where other code could drop it while Python is asked. */
static inline void keep(Thread *t, PyObject *o) { if (!t->alone) hold(t, o); }
