/* What can have changed since the last event: only that is looked at again.

   Between two events of code in the scope some instructions have run. `_effects.py` says what each of them can change; here
   the objects in question are found. An object that was looked at since anything could have changed it, and everything that
   it leads to, need not be looked at again. Included by tracer.c alone. */

enum { ANYTHING = 2, DRAINS = 3, BUILDS = 4, ITERATES = 5, IN_PLACE_LOCAL = 16, ACTS = 1000 };
enum { ACT_SET_ATTRIBUTE, ACT_SET_ITEM, ACT_IN_PLACE, ACT_IN_PLACE_ITEM, ACT_METHOD, ACT_CALL };
enum { DOES_NOTHING, DOES_CHANGE, DOES_UNKNOWN, DOES_DRAW, DOES_CHANGE_AND_DRAW, DOES_APPEND };
enum { NO_KEY, KEY_IN_SLOT, CONSTANT_KEY };

static Map CALLABLES;        /* builtin callables that change nothing: see _effects.py */
static initproc SLOT_INIT;   /* tp_init of a class with an __init__ in Python */

/* Whether a value of this type stays as it is for as long as it lives. */
static inline bool
keeps_still(PyObject *o)
{
    PyTypeObject *k = Py_TYPE(o);
    return k == &PyLong_Type || k == &PyUnicode_Type || k == &PyFloat_Type || k == &PyTuple_Type || k == &PyBool_Type
        || k == &PyBytes_Type || k == &PyComplex_Type || k == &PyFrozenSet_Type || o == Py_None;
}

/* Have an object looked at in the next event; `steps` from a variable; of a list one item, if `only` says so. Another object that is
   known may show its content as well (a view, a buffer, the dict of an instance): then everything is looked at. */
static void
touch(Thread *t, PyObject *o, int steps, Py_ssize_t only)
{
    t->touches++;
    if (t->exotics) { t->wild = true; return; }
    Obj *obj = map_get(&t->objects, (uint64_t)o);
    if (!obj || obj->dead) {  /* what is not known yet is looked at when it is */
        t->wild |= map_get(&t->core->said, (uint64_t)o) != NULL;  /* a function may get another name */
        return;
    }
    PyTypeObject *k = Py_TYPE(o);
    bool container = k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type || k == &PyByteArray_Type;
    if (obj->moves || (!container && (PyFunction_Check(o) || PyType_Check(o) || shares_dict(o)))) { t->wild = true; return; }
    if (obj->touched) {
        if (obj->only != only) obj->only = EVERYWHERE;
        return;
    }
    obj->only = only;
    obj->touched = (signed char)steps;
    obj->users++;
    objs_add(&t->touched, obj);
}

static void
untouch(Thread *t)
{
    while (t->touched.n) {
        Obj *obj = t->touched.p[--t->touched.n];
        obj->touched = 0;
        obj->only = EVERYWHERE;
        unuse(t, obj);
    }
}

static PyObject *
from_dict(PyObject *dict, PyObject *name)
{
    if (!dict || !PyDict_CheckExact(dict)) return NULL;
    return _PyDict_GetItem_KnownHash(dict, name, ((PyASCIIObject *)name)->hash);
}

/* An attribute that an object holds itself, found without code of the program's; NULL if it is not of that kind. */
static PyObject *
own_attribute(PyObject *o, PyObject *name)
{
    PyTypeObject *k = Py_TYPE(o);
    if (k->tp_getattro != PyObject_GenericGetAttr || !(k->tp_flags & Py_TPFLAGS_HEAPTYPE)) return NULL;
    PyObject *found = _PyType_Lookup(k, name);
    if (found) {
        if (!Py_IS_TYPE(found, &PyMemberDescr_Type)) return NULL;
        PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
        return member->type == T_OBJECT_EX ? *(PyObject **)((char *)o + member->offset) : NULL;
    }
    Attributes a;
    PyObject *key, *value;
    attributes_of(o, &a);
    while (next_attribute(&a, &key, &value)) if (key == name) return value;
    return NULL;
}

/* Where an act's path leads; NULL if nobody knows. */
static PyObject *
led_to(const View *v, const Act *act)
{
    PyObject *o;
    if (act->slot >= 0) o = fast_local(v, act->slot);
    else {
        o = from_dict(v->i->f_globals, act->name);
        if (!o) o = from_dict(v->i->f_builtins, act->name);
    }
    return o && act->attribute ? own_attribute(o, act->attribute) : o;
}

/* The object of an act whose path is not known, from the pointer that the interpreter has left on the value stack; NULL if that is
   not there any more or leads to nothing that is known. `to`: the instruction before which the frame stands. The pointer may be
   older than the act, which a jump may have left out: then nothing has changed. What it leads to may be gone, so that it is
   compared and not followed; what is known is alive. */
static PyObject *
pointer_left(const View *v, const Act *act, int to)
{
    if (act->position < 0 || to / 2 < act->first || to / 2 > act->last) return NULL;
    return object_in(v->i->localsplus[v->info->nnames + act->position]);
}

static PyObject *
left_on_stack(Thread *t, const View *v, const Act *act, int to)
{
    PyObject *o = pointer_left(v, act, to);
    Obj *obj = o ? map_get(&t->objects, (uint64_t)o) : NULL;
    return obj && !obj->dead && obj->watched && obj->type == Py_TYPE(o) ? o : NULL;
}

/* A call that no event was seen of: what is called is written in C, or makes a generator. */
static void
account_call(Thread *t, PyObject *callable, const Act *act)
{
    int known = (int)(uintptr_t)map_get(&CALLABLES, (uint64_t)callable);
    if (known) {
        if ((known & 4 && act->arguments < 0) || (known & 8 && act->arguments != 1) || t->exotics) t->wild = true;
        else if (known & 2) t->drains = true;
        return;
    }
    if (Py_IS_TYPE(callable, &PyFunction_Type)) {
        PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(callable);
        if (!(code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) || !in_scope(t->core, code)) t->wild = true;
        return;
    }
    if (PyType_Check(callable)) {
        PyTypeObject *k = (PyTypeObject *)callable;
        bool plain = Py_TYPE(callable)->tp_call == PyType_Type.tp_call;
        if (plain && k->tp_new == PyBaseObject_Type.tp_new && k->tp_init == PyBaseObject_Type.tp_init) return;
        if (plain && !(k->tp_flags & Py_TPFLAGS_HEAPTYPE) && PyType_FastSubclass(k, Py_TPFLAGS_BASE_EXC_SUBCLASS)) return;
    }
    t->wild = true;
}

static void
account_method(Thread *t, PyObject *o, const Act *act)
{
    PyTypeObject *k = Py_TYPE(o);
    int does = DOES_UNKNOWN;
    if (k == &PyModule_Type) {
        PyObject *callable = from_dict(PyModule_GetDict(o), act->method);
        if (callable) { account_call(t, callable, act); return; }
    } else if (k == &PyList_Type) does = act->on_list;
    else if (k == &PyDict_Type) does = act->on_dict;
    else if (k == &PySet_Type) does = act->on_set;
    else if (keeps_still(o)) does = act->on_still;
    if (does == DOES_UNKNOWN || t->exotics) { t->wild = true; return; }
    if (does == DOES_DRAW || does == DOES_CHANGE_AND_DRAW) t->drains = true;
    if (does == DOES_APPEND) touch(t, o, act->attribute ? 2 : 1, AT_END);
    else if (does == DOES_CHANGE || does == DOES_CHANGE_AND_DRAW) touch(t, o, act->attribute ? 2 : 1, EVERYWHERE);
}

/* Which item of a list an act sets. */
static Py_ssize_t
item_of(const View *v, const Act *act, PyObject *o)
{
    int64_t key = act->key;
    if (act->key_kind == NO_KEY || !PyList_CheckExact(o)) return EVERYWHERE;
    if (act->key_kind == KEY_IN_SLOT) {
        PyObject *number = local_of(v->i, (int)act->key);
        if (!number || !Py_IS_TYPE(number, &PyLong_Type) || !int_value(number, &key)) return EVERYWHERE;
    }
    if (key < 0) key += PyList_GET_SIZE(o);
    return key < 0 || key >= PyList_GET_SIZE(o) ? EVERYWHERE : (Py_ssize_t)key;
}

/* Whether it is a function that is recorded: its own events tell what it does. */
static bool
is_seen(Thread *t, PyObject *function)
{
    return function && Py_IS_TYPE(function, &PyFunction_Type) && in_scope(t->core, (PyCodeObject *)PyFunction_GET_CODE(function));
}

/* An attribute is set or deleted. */
static void
account_attribute(Thread *t, PyObject *o, const Act *act)
{
    PyTypeObject *k = Py_TYPE(o);
    PyObject *found = k->tp_setattro == PyObject_GenericSetAttr ? _PyType_Lookup(k, act->method) : Py_None;
    if (t->named && !map_get(&t->objects, (uint64_t)o)) t->wild = true;  /* a text may tell of it */
    else if (!found || (found != Py_None && (!Py_TYPE(found)->tp_descr_set || Py_IS_TYPE(found, &PyMemberDescr_Type))))
        touch(t, o, act->attribute ? 2 : 1, EVERYWHERE);
    else t->wild = true;  /* code of a descriptor or of `__setattr__` runs */
}

/* An item is set or deleted. */
static void
account_item(Thread *t, const View *v, PyObject *o, const Act *act)
{
    PyTypeObject *k = Py_TYPE(o);
    if (k == &PyList_Type || k == &PyDict_Type || k == &PyByteArray_Type) touch(t, o, act->attribute ? 2 : 1, item_of(v, act, o));
    else if (!is_seen(t, _PyType_Lookup(k, act->method))) t->wild = true;
}

static void
account_act(Thread *t, const View *v, const Act *act, int from, int to)
{
    bool assigned = act->since >= 0 && 2 * act->since < from;  /* maybe: meanwhile */
    PyObject *o = (act->slot >= 0 || act->name) && !assigned ? led_to(v, act) : NULL, *item;
    if (!o) o = left_on_stack(t, v, act, to);
    if (!o && act->kind == ACT_CALL && (o = pointer_left(v, act, to)) && !map_get(&CALLABLES, (uint64_t)o)) o = NULL;
    if (!o) { t->wild = true; return; }
    switch (act->kind) {
    case ACT_SET_ATTRIBUTE:
        account_attribute(t, o, act);
        break;
    case ACT_SET_ITEM:
        account_item(t, v, o, act);
        break;
    case ACT_IN_PLACE:
        if (t->exotics) t->wild = true;
        else if (!keeps_still(o)) touch(t, o, act->attribute ? 2 : 1, EVERYWHERE);
        break;
    case ACT_IN_PLACE_ITEM:
        item = left_on_stack(t, v, act, to);
        if (item) touch(t, item, 2, EVERYWHERE);
        else {
            Obj *obj = map_get(&t->objects, (uint64_t)o);
            if (!obj || obj->c.nrefs || t->exotics) t->wild = true;
        }
        break;
    case ACT_METHOD:
        account_method(t, o, act);
        break;
    default:
        account_call(t, o, act);
    }
}

/* A display or comprehension goes on building what lies on the value stack: an event has shown it there if it came in between,
   that of a line inside the display or of a call. */
static void
account_building(Thread *t, const IFrame *i)
{
    Entry *e = i->frame_obj ? known_entry(t, i->frame_obj) : NULL;
    if (!e) { t->wild = true; return; }
    for (size_t n = 0; n < e->rec->srefs.n; n++) {
        Obj *obj = e->rec->srefs.p[n];
        bool built = obj->type == &PyList_Type || obj->type == &PyDict_Type || obj->type == &PySet_Type || obj->type == &PyFunction_Type;
        if (built && !obj->dead) touch(t, obj->address, 1, obj->type == &PyList_Type ? AT_END : EVERYWHERE);
    }
}

/* The instructions of one line have run, from where the last event left off (`after`: behind that instruction) to `to`. */
static void
account_for(Thread *t, IFrame *i, const Info *info, int to)
{
    int from = t->at.offset, unit = from / 2;
    if (unit >= info->nunits) t->wild = true;
    if (t->wild) return;
    t->at.stored |= info->stored[unit];
    if (info->left[unit] < t->at.left) t->at.left = info->left[unit];
    if (to <= from) to = INT_MAX;  /* a line may go back within itself */
    View v = {.i = i, .info = (Info *)info, .offset = INT_MAX / 2};
    for (unit = t->at.after || !info->effect[unit] ? info->then[unit] : unit; unit >= 0 && 2 * unit < to && !t->wild;
         unit = info->then[unit]) {
        int effect = info->effect[unit];
        if (effect >= ACTS) account_act(t, &v, &info->acts[effect - ACTS], t->at.after ? from + 1 : t->at.resumed ? from : 0, to);
        else if (t->exotics || effect == ANYTHING) t->wild = true;
        else if (effect >= IN_PLACE_LOCAL) {
            PyObject *o = local_of(i, effect - IN_PLACE_LOCAL);
            if (!o || !keeps_still(o)) t->wild = true;
        } else if (effect == ITERATES) t->iterates = true;
        else if (effect >= DRAINS) {
            t->drains = true;
            if (effect == BUILDS) account_building(t, i);
        }
    }
}

static inline bool at_frame(const Thread *t, const IFrame *i, const Info *info) { return t->at.frame == i && t->at.info == info; }

/* Whether nothing but the frame that begins runs between this call and what follows it: no code in C that would go on. */
static bool
calls_directly(const View *caller, IFrame *called)
{
    if (!(op_at(caller->info, caller->offset) & OP_CALLS)) return false;
    if (entered_from_python(called)) return true;
    int first = 0, size = operand_slots(caller, &first);
    Slot *slots = caller->i->localsplus + caller->info->nnames + first;
    for (int n = 0; n < size; n++) {
        PyObject *callable = object_in(slots[n]);
        if (!callable) continue;
        if (!PyType_Check(callable)) return false;  /* alive: code in C that is being called has it from here */
        PyTypeObject *k = (PyTypeObject *)callable;
        return Py_TYPE(k)->tp_call == PyType_Type.tp_call && k->tp_new == PyBaseObject_Type.tp_new && k->tp_init == SLOT_INIT;
    }
    return false;
}

static void
stand_at(Thread *t, IFrame *i, Info *info, int offset, bool after, bool resumed)
{
    t->at.frame = i;
    t->at.info = info;
    t->at.offset = offset < 0 ? 0 : offset;
    t->at.after = after;
    t->at.resumed = resumed;
    t->at.single = t->at.shown = t->at.follows = false;
    t->at.stored = ~0ull;
    t->at.left = INT_MAX;
}

static void
account_for_call(Thread *t, IFrame *i, Info *info, int offset)
{
    IFrame *caller = calling_frame(i);
    if (t->nreturns == t->capreturns)
        t->returns = must(realloc(t->returns, (t->capreturns = t->capreturns * 2 + 16) * sizeof *t->returns));
    Return *back = &t->returns[t->nreturns++];
    *back = (Return){.called = i};
    if (caller && caller == t->at.frame && t->at.info->code == frame_code(caller)) {
        View v = {.i = caller, .info = t->at.info};
        int lasti = frame_lasti(caller);
        v.offset = lasti < 0 ? 0 : v.info->owner[lasti / 2];
        if (!t->at.single || t->at.offset != v.offset) account_for(t, caller, v.info, v.offset);  /* else the call is all that runs */
        bool directly = calls_directly(&v, i), drains = false;
        if (!directly) {  /* code in C is at work: what it does, it may do now and when this goes back */
            bool wild = t->wild, drained = t->drains;
            uint64_t touches = t->touches;
            t->drains = false;
            account_for(t, caller, v.info, v.offset + 2);
            drains = t->drains;
            t->drains |= drained;
            /* what it builds on the value stack can be seen before it is done */
            directly = !wild && !t->wild && t->touches == touches && v.info->effect[v.offset / 2] != BUILDS;
        }
        *back = (Return){i, caller, v.info, v.offset, directly, drains, t->at.stored};
    } else t->wild = true;
    stand_at(t, i, info, offset, false, true);
}

/* Whether a generator that goes on or stops is held by more than frames: what holds it is to be looked at, then. */
static bool
generator_shows(Thread *t, IFrame *i, const Info *info)
{
    if (!(info->code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) || i->owner != FRAME_OWNED_BY_GENERATOR) return false;
    Obj *obj = map_get(&t->objects, (uint64_t)generator_of(i));
    if (!obj) return false;
    if (obj->rc) return true;
    for (int k = 0; k < t->nglobals; k++)
        for (size_t n = 0; n < t->globals[k].refs.n; n++) if (t->globals[k].refs.p[n] == obj) return true;
    return false;
}

/* Take into account what ran up to an event of a frame in the scope. */
static void
account(Thread *t, PyFrameObject *frame, Info *info, int what)
{
    IFrame *i = frame->f_frame;
    int offset = frame_lasti(i);
    if (!t->alone || t->user || t->hooked || !info->optimized || t->core->only_some) t->wild = true;
    bool here = at_frame(t, i, info);
    t->drains |= t->returned_drains;
    t->returned_drains = false;
    bool shows = (what == PyTrace_CALL || what == PyTrace_RETURN) && generator_shows(t, i, info);
    if (what == PyTrace_CALL) {
        account_for_call(t, i, info, offset);
        t->wild |= shows;
        return;
    }
    if (!here) t->wild = true;
    else if (t->at.single) account_for(t, i, info, t->at.offset + 2);
    else if (what != PyTrace_OPCODE) account_for(t, i, info, what == PyTrace_LINE ? INT_MAX : offset + 2);
    else if (t->at.after || t->at.offset != offset) account_for(t, i, info, offset);  /* else its line has just begun */
    if (what == PyTrace_RETURN) {
        if (shows) t->wild = true;
        while (t->nreturns && t->returns[t->nreturns - 1].called != i) t->nreturns--;
        Return back = t->nreturns ? t->returns[--t->nreturns] : (Return){0};
        if (back.frame && !shows) {
            stand_at(t, back.frame, back.info, back.offset, back.directly, true);
            t->at.stored = back.stored;
            t->returned_drains = back.drains;
        } else t->at.frame = NULL;
        return;
    }
    uint64_t stored = here ? t->at.stored : ~0ull;
    int left = here ? t->at.left : 0;
    bool follows = here && t->at.shown && what == PyTrace_LINE;
    stand_at(t, i, info, offset, false, what != PyTrace_LINE);
    t->at.stored = stored;
    t->at.left = left;
    t->at.follows = follows;
    t->at.single = what == PyTrace_OPCODE;
}
