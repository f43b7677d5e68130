/* Values: their text as recordings have it, and what stands for that text when two are compared. */

static int write_value(Thread *t, Buf *b, PyObject *o);

static Val
text_val(const char *p, size_t n)
{
    return (Val){V_TEXT | (uint64_t)n << 8, hash_bytes(p, n)};
}

/* Whether to draw from such an iterator runs no code but its own: it calls no function. */
static bool
draws_quietly(PyTypeObject *k)
{
    PyTypeObject *const types[] = {T_listiter, T_tupleiter, T_rangeiter, T_dictkeyiter, T_dictvalueiter, T_dictitemiter, T_setiter,
                                   T_asciiiter, T_striter, T_bytesiter, T_listreviter, &PyEnum_Type, &PyZip_Type, &PyReversed_Type,
                                   &PyGen_Type, &PyCoro_Type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) if (k == types[i]) return true;
    return false;
}

static TypeInfo *
type_info(Thread *t, PyTypeObject *kind)
{
    Core *core = t->core;
    if (kind == t->last_kind && t->last_info->checked == t->stamp && t->alone) return t->last_info;
    TypeInfo *known = map_get(&core->types, (uint64_t)kind);
    bool heap = kind->tp_flags & Py_TPFLAGS_HEAPTYPE;
    if (known) {
        if (!heap || (known->checked == t->stamp && t->alone) || known->version == class_version(kind)) {
            known->checked = t->stamp;
            t->last_kind = kind;
            t->last_info = known;
            return known;
        }
    }
    PyObject *facts = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_type_facts, (PyObject *)kind));
    if (!facts) return NULL;
    known = map_get(&core->types, (uint64_t)kind);  /* another thread may have asked meanwhile */
    if (!known) { known = must(calloc(1, sizeof *known)); map_put(&core->types, (uint64_t)kind, known); }
    Py_CLEAR(known->head);
    for (int i = 0; i < known->nslots; i++) Py_DECREF(known->names[i]);
    known->nslots = 0;
    PyObject *slots, *head, *hidden;
    int has_dict, placed, unseen;
    if (!PyArg_ParseTuple(facts, "iOOpOpp", &known->mode, &head, &slots, &has_dict, &hidden, &placed, &unseen)) {
        Py_DECREF(facts);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++)  /* a type written in C may have members that are no objects */
        if (((PyMemberDescrObject *)PyTuple_GET_ITEM(PyTuple_GET_ITEM(slots, i), 1))->d_member->type != T_OBJECT_EX) {
            known->mode = M_CONTENT;
            head = Py_None;
        }
    known->head = Py_NewRef(head);
    if (head != Py_None) {
        Py_ssize_t n;
        const char *text = PyUnicode_AsUTF8AndSize(head, &n);
        if (!text) { Py_DECREF(facts); return NULL; }
        known->head_val = text_val(text, (size_t)n);
    }
    known->has_dict = has_dict;
    Py_XSETREF(known->hidden, PySet_GET_SIZE(hidden) ? Py_NewRef(hidden) : NULL);
    known->placed = placed;
    known->moves = placed || kind == &PyGen_Type || kind == &PyCoro_Type || (head != Py_None && PyUnicode_Check(head) && known->mode == M_CONTENT);
    known->exotic = known->moves ? !draws_quietly(kind) : (unseen || known->mode == M_ARRAY
        || (known->mode == M_CONTENT && !PyType_IsSubtype(kind, (PyTypeObject *)PyExc_BaseException)));
    known->watched = watch(kind);
    Py_ssize_t n = PyTuple_GET_SIZE(slots);
    known->names = must(realloc(known->names, (size_t)(n + 1) * sizeof(PyObject *)));
    known->offsets = must(realloc(known->offsets, (size_t)(n + 1) * sizeof(Py_ssize_t)));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PyTuple_GET_ITEM(slots, i);
        known->names[i] = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
        known->offsets[i] = ((PyMemberDescrObject *)PyTuple_GET_ITEM(pair, 1))->d_member->offset;
    }
    known->nslots = (int)n;
    known->version = class_version(kind);
    Py_DECREF(facts);
    return known;
}

static bool
is_own_function(Thread *t, PyObject *o)
{
    PyObject *globals = PyFunction_GET_GLOBALS(o);
    PyObject *name = globals && PyDict_Check(globals) ? PyDict_GetItemWithError(globals, S_name) : NULL;
    return name && PyUnicode_CheckExact(name) && PySet_Contains(t->core->modules, name) == 1;
}

/* Where an iterator stands, to tell it from another made at its address (_PLACES in snapshot.py). */
static int
iterator_place(Thread *t, PyObject *o, uint64_t *over, double *position)
{
    PyTypeObject *k = Py_TYPE(o);
    if (k == T_listiter || k == T_tupleiter || k == T_asciiiter) {
        SequenceIterator *it = (SequenceIterator *)o;
        *over = (uint64_t)it->over;
        *position = it->over ? (double)it->index : Py_HUGE_VAL;
        return 1;
    }
    if (k == T_rangeiter) {
        int64_t start, stop, step, len;
        range_left(o, &start, &stop, &step, &len);
        *over = (uint64_t)stop;
        *position = -(double)len;
        return 1;
    }
    if (k == T_dictkeyiter || k == T_dictvalueiter || k == T_dictitemiter || k == T_setiter) {
        PyObject *inner = k == T_setiter ? ((SetIterator *)o)->over : ((DictIterator *)o)->over;
        *over = (uint64_t)inner;
        *position = Py_HUGE_VAL;
        if (inner) {
            Py_ssize_t left = 0;
            if (k == T_setiter) {
                SetIterator *it = (SetIterator *)o;
                if (it->used == ((PySetObject *)inner)->used) left = it->len;
            } else {
                DictIterator *it = (DictIterator *)o;
                if (it->used == ((PyDictObject *)inner)->ma_used) left = it->len;
            }
            *position = -(double)left;
        }
        return 1;
    }
    PyObject *place = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_place, o));
    if (!place) return -1;
    if (place == Py_None) { Py_DECREF(place); return 0; }
    *over = PyLong_AsUnsignedLongLongMask(PyTuple_GET_ITEM(place, 0));
    *position = PyFloat_AsDouble(PyTuple_GET_ITEM(place, 1));
    Py_DECREF(place);
    return PyErr_Occurred() ? -1 : 1;
}

static bool
function_is_inert(PyObject *o)
{
    PyFunctionObject *f = (PyFunctionObject *)o;
    if (f->func_closure) return false;
    if (f->func_dict && (PyDict_GET_SIZE(f->func_dict) || Py_REFCNT(f->func_dict) > 1)) return false;
    if (f->func_defaults)
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(f->func_defaults); i++) {
            PyTypeObject *k = Py_TYPE(PyTuple_GET_ITEM(f->func_defaults, i));
            if (k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type || k == &PyByteArray_Type) return false;
        }
    if (f->func_kwdefaults && PyDict_GET_SIZE(f->func_kwdefaults)) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(f->func_kwdefaults, &at, &key, &value)) {
            PyTypeObject *k = Py_TYPE(value);
            if (k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type || k == &PyByteArray_Type) return false;
        }
    }
    return true;
}

static bool in_scope(Core *core, PyCodeObject *code) { return PyDict_Contains(core->scope, code->co_filename) == 1; }

static void
enqueue(Thread *t, PyObject *o, Obj *obj)
{
    if (t->nqueue == t->capqueue)
        t->queue = must(realloc(t->queue, (t->capqueue = t->capqueue * 2 + 64) * sizeof(Queued)));
    keep(t, o);
    t->queue[t->nqueue++] = (Queued){o, obj, t->depth + 1};
}

static bool
is_generator_type(PyTypeObject *k)
{
    return k == &PyGen_Type || k == &PyCoro_Type || k == &PyAsyncGen_Type;
}

/* Whether something is called when a weak reference ends, other than what keeps the caches of abstract base classes. */
static bool
calls_back(PyWeakReference *reference)
{
    PyObject *callback = reference->wr_callback;
    return callback && !(PyCFunction_Check(callback) && strcmp(((PyCFunctionObject *)callback)->m_ml->ml_name, "_destroy") == 0);
}

/* Whether code runs when an object dies that no event is seen of. */
static bool
dies_unseen(Thread *t, PyObject *o)
{
    PyTypeObject *k = Py_TYPE(o);
    if (PyType_SUPPORTS_WEAKREFS(k))
        for (PyWeakReference *w = *(PyWeakReference **)PyObject_GET_WEAKREFS_LISTPTR(o); w; w = w->wr_next)
            if (calls_back(w)) return true;
    if (!k->tp_finalize && !k->tp_del) return false;
    if (is_generator_type(k)) return !in_scope(t->core, generator_code(o));
    PyObject *del = _PyType_Lookup(k, S_del);
    return !del || !PyFunction_Check(del) || !in_scope(t->core, (PyCodeObject *)PyFunction_GET_CODE(del));
}

/* The object with an identity; NULL with `*cut` set where a limit is reached, or NULL with an error
   (Snapshotter._reference). */
static Obj *
reference(Thread *t, PyObject *o, bool placed, const char **cut)
{
    PyTypeObject *kind = Py_TYPE(o);
    Obj *obj = map_get(&t->objects, (uint64_t)o);
    uint64_t over = 0;
    double position = 0;
    *cut = NULL;
    if (t->revisit) pys_add(t->revisit, o);
    if (obj) {
        bool it = obj->type == kind && (obj->watched || obj->visited == t->stamp);
        if (it && obj->placed) {
            if (iterator_place(t, o, &over, &position) < 0) return NULL;
            it = position >= obj->position && (over == obj->over || over == 0);
        }
        if (it) {
            if (obj->placed) { obj->over = over; obj->position = position; }
            objs_add(&t->refs, obj);
            if (!t->hooked && obj->visited < t->quiet) t->hooked = dies_unseen(t, o);
            if (obj->visited != t->stamp && (obj->visited < t->quiet || obj->moves || obj->touched)) {
                if (obj->visited < t->quiet) obj->only = EVERYWHERE;
                obj->visited = t->stamp;
                obj->touched = 0;
                t->moved += obj->moves;
                t->visited++;
                if (kind != &PyFunction_Type || !obj->known || obj->c.nf || !function_is_inert(o)) enqueue(t, o, obj);
            }
            return obj;
        }
        gone_add(&t->replaced, &t->nreplaced, &t->capreplaced, obj->number);
        t->reread = true;  /* a __class__ may have been assigned: what holds it holds another object now */
        if (obj->type != kind && kind->tp_flags & Py_TPFLAGS_HEAPTYPE) t->replaced_at = t->stamp;
        obj_kill(t, obj);
    }
    if (t->depth >= t->core->depth) { *cut = "deep"; t->beyond = true; return NULL; }
    if ((Py_ssize_t)t->visited >= t->core->objects) { *cut = "many"; return NULL; }
    obj = must(calloc(1, sizeof *obj));
    obj->number = t->next_number++;
    obj->only = EVERYWHERE;
    obj->address = o;
    obj->type = kind;
    if (!t->hooked) t->hooked = dies_unseen(t, o);
    if (placed) {
        int found = iterator_place(t, o, &obj->over, &obj->position);
        if (found < 0) { free(obj); return NULL; }
        obj->placed = found;
    }
    if (kind == &PyList_Type || kind == &PyDict_Type || kind == &PySet_Type || kind == &PyFunction_Type || kind == &PyByteArray_Type)
        obj->watched = watch(kind);
    else {
        TypeInfo *info = type_info(t, kind);
        if (!info) { free(obj); return NULL; }
        obj->watched = info->watched;
        obj->moves = info->moves;
        obj->exotic = info->exotic || ((kind == &PyGen_Type || kind == &PyCoro_Type) && !in_scope(t->core, generator_code(o)));
        if (obj->moves) { obj->place = t->iterators.n; objs_add(&t->iterators, obj); }
        t->exotics += obj->exotic;
        t->moved += obj->moves;
    }
    obj->next = t->all;
    if (t->all) t->all->prev = obj;
    t->all = obj;
    map_put(&t->objects, (uint64_t)o, obj);
    objs_add(&t->refs, obj);
    obj->visited = t->stamp;
    t->visited++;
    t->fresh++;
    enqueue(t, o, obj);
    return obj;
}

/* The name in the text of a function or class; it can be assigned. None of a class whose name is fixed. */
static PyObject *
named_by(PyObject *o)
{
    if (PyFunction_Check(o)) return ((PyFunctionObject *)o)->func_qualname;
    if (PyType_Check(o) && ((PyTypeObject *)o)->tp_flags & Py_TPFLAGS_HEAPTYPE) return ((PyHeapTypeObject *)o)->ht_qualname;
    return Py_None;
}

/* Whether a function or class of a library has got another name: its text is made again when it is seen. */
static bool
any_renamed(Core *core)
{
    bool found = false;
    if (core != watching) return false;  /* its objects die unnoticed: the addresses may be stale */
    for (size_t i = 0; core->said.e && i <= core->said.mask; i++) {
        PyObject *o = (PyObject *)core->said.e[i].key;
        Said *said = core->said.e[i].value;
        if (!o || said->name == named_by(o)) continue;
        Py_CLEAR(said->text);
        Py_SETREF(said->name, Py_NewRef(named_by(o)));
        found = true;
    }
    return found;
}

/* How a value is to be written that is no atom and no tuple. 1: by reference, 0: as `*text` says, -1: error. */
static int
by_reference(Thread *t, PyObject *o, bool *placed, PyObject **text)
{
    PyTypeObject *kind = Py_TYPE(o);
    *placed = false;
    if (kind == &PyList_Type || kind == &PyDict_Type || kind == &PySet_Type || kind == &PyByteArray_Type) return 1;
    if (kind == &PyFunction_Type && is_own_function(t, o)) return 1;
    Said *said = map_get(&t->core->said, (uint64_t)o);
    if (said && said->text && said->name == named_by(o)) { *text = Py_NewRef(said->text); return 0; }
    TypeInfo *info = type_info(t, kind);
    if (!info) return -1;
    *placed = info->placed;
    if (info->mode != M_INLINE) return 1;
    if (PyType_Check(o) && map_get(&t->objects, (uint64_t)o)) return 1;
    if (!PyType_Check(o) && !PyFunction_Check(o) && !PyModule_Check(o))
        t->named |= kind->tp_dictoffset || (kind->tp_flags & Py_TPFLAGS_MANAGED_DICT);
    Py_INCREF(o);
    *text = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_inline, o));
    Py_DECREF(o);
    if (!*text) return -1;
    if (*text != Py_None) {
        if (kind == &PyFunction_Type || kind == &PyType_Type) {
            if (!said) map_put(&t->core->said, (uint64_t)o, said = must(calloc(1, sizeof *said)));
            Py_XSETREF(said->text, Py_NewRef(*text));
            Py_XSETREF(said->name, Py_NewRef(named_by(o)));
        }
        return 0;
    }
    Py_CLEAR(*text);
    return 1;
}

static void
write_cut(Thread *t, Buf *b, const char *why, const char *type)
{
    buf_lit(b, "{\"cut\":\"");
    buf_put(b, why, strlen(why));
    buf_lit(b, "\",\"type\":\"");
    buf_put(b, type, strlen(type));
    buf_lit(b, "\"}");
}

static int
write_items(Thread *t, Buf *b, const char *key, PyObject *o, Py_ssize_t n)
{
    if (t->depth >= t->core->depth) { write_cut(t, b, "deep", key); t->beyond = true; return 0; }
    keep(t, o);
    t->depth++;
    buf_lit(b, "{\"");
    buf_put(b, key, strlen(key));
    buf_lit(b, "\":[");
    Py_ssize_t limit = n > t->core->items ? t->core->items : n, at = 0;
    for (Py_ssize_t i = 0; i < limit; i++) {
        PyObject *item;
        Py_hash_t hash;
        if (PyTuple_CheckExact(o)) item = PyTuple_GET_ITEM(o, i);
        else if (!_PySet_NextEntry(o, &at, &item, &hash)) break;
        if (i) buf_byte(b, ',');
        if (write_value(t, b, item) < 0) return -1;
    }
    buf_byte(b, ']');
    if (n > limit) {
        buf_lit(b, ",\"length\":");
        buf_int(b, n);
        buf_lit(b, ",\"cut\":\"long\"");
    }
    buf_byte(b, '}');
    t->depth--;
    return 0;
}

static void
write_float(Buf *b, double x)
{
    if (x - x != 0) {
        buf_lit(b, "{\"float\":\"");
        const char *s = x != x ? "nan" : x > 0 ? "inf" : "-inf";
        buf_put(b, s, strlen(s));
        buf_lit(b, "\"}");
        return;
    }
    char *s = PyOS_double_to_string(x, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    must(s);
    buf_put(b, s, strlen(s));
    PyMem_Free(s);
}

static int
write_big(Thread *t, Buf *b, PyObject *o)
{
    PyObject *text = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_big, o));
    if (!text) return -1;
    buf_text(b, text);
    Py_DECREF(text);
    return 0;
}

/* The encoded value (Snapshotter.value). */
static int
write_value(Thread *t, Buf *b, PyObject *o)
{
    PyTypeObject *k = Py_TYPE(o);
    int64_t value;
    if (o == Py_None) { buf_lit(b, "null"); return 0; }
    if (o == Py_True) { buf_lit(b, "true"); return 0; }
    if (o == Py_False) { buf_lit(b, "false"); return 0; }
    if (k == &PyLong_Type) {
        if (!int_value(o, &value)) { keep(t, o); return write_big(t, b, o); }
        buf_int(b, value);
        return 0;
    }
    if (k == &PyUnicode_Type) {
        Py_ssize_t n = PyUnicode_GET_LENGTH(readable(o));
        if (surrogate_pair(o, Py_MIN(n, t->core->text_chars))) { keep(t, o); return write_big(t, b, o); }
        if (n <= t->core->text_chars) { buf_json(b, o, n); return 0; }
        buf_lit(b, "{\"str\":");
        buf_json(b, o, t->core->text_chars);
        buf_lit(b, ",\"length\":");
        buf_int(b, n);
        buf_lit(b, ",\"cut\":\"long\"}");
        return 0;
    }
    if (k == &PyFloat_Type) { write_float(b, PyFloat_AS_DOUBLE(o)); return 0; }
    if (k == &PyTuple_Type) return write_items(t, b, "tuple", o, PyTuple_GET_SIZE(o));
    if (k == &PyFrozenSet_Type) return write_items(t, b, "frozenset", o, PySet_GET_SIZE(o));
    if (k == &PyBytes_Type || k == &PyComplex_Type || k == &PyRange_Type || k == &PySlice_Type
        || k == &PyEllipsis_Type || k == &_PyNotImplemented_Type) { keep(t, o); return write_big(t, b, o); }
    keep(t, o);
    bool placed;
    PyObject *text;
    int how = by_reference(t, o, &placed, &text);
    if (how < 0) return -1;
    if (how == 0) { buf_text(b, text); Py_DECREF(text); return 0; }
    const char *cut;
    Obj *obj = reference(t, o, placed, &cut);
    if (obj) {
        buf_lit(b, "{\"ref\":");
        buf_int(b, (int64_t)obj->number);
        buf_byte(b, '}');
        return 0;
    }
    if (!cut) return -1;
    text = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_type_name, (PyObject *)k));
    if (!text) return -1;
    buf_lit(b, "{\"cut\":\"");
    buf_put(b, cut, strlen(cut));
    buf_lit(b, "\",\"type\":");
    buf_json(b, text, PyUnicode_GET_LENGTH(text));
    buf_byte(b, '}');
    Py_DECREF(text);
    return 0;
}

static inline Val
str_val(Thread *t, PyObject *o)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(readable(o)), shown = n > t->core->text_chars ? t->core->text_chars : n;
    return (Val){V_STR | (uint64_t)n << 8, hash_bytes(PyUnicode_DATA(o), (size_t)(shown * PyUnicode_KIND(o)))};
}

/* What stands for the encoded value: numbers, visits and queues what the text would. */
static int
value_of(Thread *t, PyObject *o, Val *v)
{
    PyTypeObject *k = Py_TYPE(o);
    int64_t value;
    if (k == &PyLong_Type && int_value(o, &value)) { *v = (Val){V_INT, (uint64_t)value}; return 0; }
    if (k == &PyUnicode_Type) { *v = str_val(t, o); return 0; }
    if (o == Py_None) { *v = (Val){V_NONE, 0}; return 0; }
    if (k == &PyBool_Type) { *v = (Val){o == Py_True ? V_TRUE : V_FALSE, 0}; return 0; }
    if (k == &PyFloat_Type) {
        double x = PyFloat_AS_DOUBLE(o);
        uint64_t bits = 1;
        if (x == x) memcpy(&bits, &x, 8);
        *v = (Val){V_FLOAT | (uint64_t)(x != x) << 8, bits};
        return 0;
    }
    if (k == &PyTuple_Type && t->depth < t->core->depth && PyTuple_GET_SIZE(o) <= t->core->items) {
        Py_ssize_t n = PyTuple_GET_SIZE(o);
        uint64_t h = 0x9FB21C651E98DF25ull;
        keep(t, o);
        t->depth++;
        for (Py_ssize_t i = 0; i < n; i++) {
            Val item;
            if (value_of(t, PyTuple_GET_ITEM(o, i), &item) < 0) return -1;
            h = mix(mix(h, item.a), item.b);
        }
        t->depth--;
        *v = (Val){V_TUPLE | (uint64_t)n << 8, h};
        return 0;
    }
    Obj *known = k == &PyTuple_Type ? NULL : map_get(&t->objects, (uint64_t)o);
    if (known && known->visited >= t->quiet && !known->moves && !known->touched && known->type == k
        && (known->watched || known->visited == t->stamp)) {  /* nothing has changed: the short way through `reference` */
        if (t->revisit) pys_add(t->revisit, o);
        objs_add(&t->refs, known);
        *v = (Val){V_REF, known->number};
        return 0;
    }
    if (k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type || known) {
        bool placed = false;
        PyObject *text = NULL;
        const char *cut;
        keep(t, o);
        int how = k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type ? 1 : by_reference(t, o, &placed, &text);
        if (how < 0) return -1;
        if (how == 1) {
            Obj *obj = reference(t, o, placed, &cut);
            if (obj) { *v = (Val){V_REF, obj->number}; return 0; }
            if (!cut) return -1;
        } else Py_DECREF(text);
    }
    keep(t, o);
    size_t start = t->scratch.n;
    if (write_value(t, &t->scratch, o) < 0) return -1;
    /* `{"ref":N}` is compared by number, so that one object is one value however it was found */
    const char *p = t->scratch.p + start;
    size_t n = t->scratch.n - start;
    if (n > 8 && memcmp(p, "{\"ref\":", 7) == 0) {
        uint64_t number = 0;  /* strtoull would be of glibc 2.38 */
        for (p += 7; *p >= '0' && *p <= '9'; p++) number = 10 * number + (uint64_t)(*p - '0');
        *v = (Val){V_REF, number};
    } else *v = text_val(p, n);
    t->scratch.n = start;
    return 0;
}

typedef struct { PyFrameObject *f; IFrame *i; Info *info; int offset; } View;
typedef struct { PyObject *name, *value; int slot; } Now;
typedef struct { Now *p; size_t n, cap; } Nows;

static inline bool same_name(PyObject *a, PyObject *b) { return a == b || PyUnicode_Compare(a, b) == 0; }
