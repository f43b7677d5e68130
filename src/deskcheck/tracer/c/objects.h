/* Identity: which objects are known, what refers to them, and when they are out of reach (Snapshotter in snapshot.py). */

static void
type_info_free(TypeInfo *info)
{
    for (int n = 0; n < info->nslots; n++) Py_DECREF(info->names[n]);
    free(info->names);
    free(info->offsets);
    Py_XDECREF(info->head);
    Py_XDECREF(info->hidden);
    free(info);
}

static void
said_free(Said *said)
{
    Py_XDECREF(said->text);
    Py_XDECREF(said->name);
    free(said);
}

static void
content_free(Content *c)
{
    free(c->items);
    for (size_t i = 0; i < c->nf; i++) Py_DECREF(c->fields[i].name);
    free(c->fields);
    free(c->refs);
    free(c->seen);
    free(c->stable);
    memset(c, 0, sizeof *c);
}

static void
obj_free(Thread *t, Obj *o)
{
    if (o->prev) o->prev->next = o->next; else t->all = o->next;
    if (o->next) o->next->prev = o->prev;
    content_free(&o->c);
    free(o->revisit.p);
    free(o);
}

static void
list_candidate(Thread *t, Obj *o)
{
    if (!o->listed) { o->listed = true; objs_add(&t->maybe, o); }
}


static inline void unuse(Thread *t, Obj *o) { if (--o->users == 0 && o->dead && !o->listed) obj_free(t, o); }

static void
edges_set(Thread *t, Obj *owner, Obj **refs, size_t n)
{
    Content *c = &owner->c;
    if (c->nrefs == n && (n == 0 || memcmp(c->refs, refs, n * sizeof(Obj *)) == 0)) return;
    Obj **old = c->refs;
    size_t nold = c->nrefs;
    c->refs = NULL;
    if (n) { c->refs = must(malloc(n * sizeof(Obj *))); memcpy(c->refs, refs, n * sizeof(Obj *)); }
    c->nrefs = c->caprefs = n;
    for (size_t i = 0; i < nold; i++) if (old[i]->hint == owner) old[i]->hint = NULL;
    for (size_t i = 0; i < n; i++) {
        refs[i]->rc++;
        refs[i]->users++;
        if (!refs[i]->hint && refs[i] != owner) refs[i]->hint = owner;
    }
    for (size_t i = 0; i < nold; i++) { old[i]->rc--; list_candidate(t, old[i]); unuse(t, old[i]); }
    free(old);
}

/* More of what an object refers to, behind the rest. */
static void
edges_add(Obj *owner, Obj **refs, size_t n)
{
    Content *c = &owner->c;
    if (c->nrefs + n > c->caprefs) c->refs = must(realloc(c->refs, (c->caprefs = 2 * (c->nrefs + n)) * sizeof(Obj *)));
    for (size_t i = 0; i < n; i++) {
        c->refs[c->nrefs++] = refs[i];
        refs[i]->rc++;
        refs[i]->users++;
        if (!refs[i]->hint && refs[i] != owner) refs[i]->hint = owner;
    }
}

/* Replace a list of what is referred to; `counted` times it is a root. */
static void
replace_refs(Thread *t, Objs *have, int counted, bool stack, Obj **now, size_t n)
{
    if (have->n == n && (n == 0 || memcmp(have->p, now, n * sizeof(Obj *)) == 0)) return;
    for (size_t i = 0; i < n; i++) { now[i]->roots += (size_t)counted; now[i]->on_stacks += stack ? (size_t)counted : 0; now[i]->users++; }
    size_t nold = have->n;
    Obj **old = have->p;
    have->p = NULL;
    have->n = have->cap = 0;
    for (size_t i = 0; i < n; i++) objs_add(have, now[i]);
    for (size_t i = 0; i < nold; i++) {
        old[i]->roots -= (size_t)counted;
        old[i]->on_stacks -= stack ? (size_t)counted : 0;
        if (counted) list_candidate(t, old[i]);
        unuse(t, old[i]);
    }
    free(old);
}

static inline void
set_refs(Thread *t, Objs *have, int counted, Obj **now, size_t n)
{
    if (n || have->n) replace_refs(t, have, counted, false, now, n);
}

/* The same of a value stack. */
static inline void
set_stack_refs(Thread *t, Objs *have, int counted, Obj **now, size_t n)
{
    if (n || have->n) replace_refs(t, have, counted, true, now, n);
}

/* Keep the numbers of objects until `let_go`. */
static void
keep_numbers(Objs *left, const Objs *of)
{
    for (size_t i = 0; i < of->n; i++) {
        if (of->p[i]->dead) continue;
        of->p[i]->roots++;
        of->p[i]->users++;
        objs_add(left, of->p[i]);
    }
}

/* Let go of the first `n`. */
static void
let_go(Thread *t, Objs *left, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        left->p[i]->roots--;
        list_candidate(t, left->p[i]);
        unuse(t, left->p[i]);
    }
    left->n -= n;
    if (left->n) memmove(left->p, left->p + n, left->n * sizeof *left->p);
}

static void
recount(Thread *t, Rec *r, int change)
{
    for (int k = 0; k < 2; k++) {
        Objs *l = k ? &r->srefs : &r->refs;
        for (size_t i = 0; i < l->n; i++) {
            l->p[i]->roots += (size_t)(ptrdiff_t)change;
            if (k) l->p[i]->on_stacks += (size_t)(ptrdiff_t)change;
            if (change < 0) list_candidate(t, l->p[i]);
        }
    }
    r->counted += change;
}

static void
gone_add(uint64_t **list, size_t *n, size_t *cap, uint64_t number)
{
    if (*n == *cap) *list = must(realloc(*list, (*cap = *cap * 2 + 8) * sizeof(uint64_t)));
    (*list)[(*n)++] = number;
}

/* Take the identity away from what lies at its address: it is another object now, or out of reach. */
static void
obj_kill(Thread *t, Obj *o)
{
    o->dead = true;
    if (o->moves) {  /* the last one takes its place */
        Obj *last = t->iterators.p[--t->iterators.n];
        t->iterators.p[last->place = o->place] = last;
    }
    t->exotics -= o->exotic;
    if (map_get(&t->objects, (uint64_t)o->address) == o) map_del(&t->objects, (uint64_t)o->address);
    o->users++;
    edges_set(t, o, NULL, 0);
    o->users--;
    if (!o->users && !o->listed) obj_free(t, o);
}

/* Whether a chain of contents leads from a root to it: a proof; NULL at its end proves nothing. */
static bool
surely_reached(Obj *o)
{
    for (int steps = 0; o && steps < 64; steps++, o = o->hint) {
        if (o->dead) return false;
        if (o->roots) return true;
    }
    return false;
}

static void
mark_reached(Objs *todo, uint64_t mark)
{
    while (todo->n) {
        Obj *o = todo->p[--todo->n];
        for (size_t i = 0; i < o->c.nrefs; i++) {
            Obj *ref = o->c.refs[i];
            if (ref->mark != mark && !ref->dead) { ref->mark = mark; objs_add(todo, ref); }
        }
    }
}

/* Drop them all, and note their numbers. */
static void
drop_all(Thread *t, Objs *them)
{
    for (size_t i = 0; i < them->n; i++) them->p[i]->users++;
    for (size_t i = 0; i < them->n; i++) {
        gone_add(&t->gone, &t->ngone, &t->capgone, them->p[i]->number);
        obj_kill(t, them->p[i]);
    }
    for (size_t i = 0; i < them->n; i++) unuse(t, them->p[i]);
    free(them->p);
}

/* Drop what cannot be reached from the roots any more, and note its numbers (Snapshotter.forget_unreachable). */
static void
forget(Thread *t)
{
    bool doubt = false;
    Objs later = {0};
    while (t->maybe.n) {
        Obj *o = t->maybe.p[--t->maybe.n];
        o->listed = false;
        if (o->dead) { if (!o->users) obj_free(t, o); continue; }
        if (o->roots || !o->known) continue;
        if (o->rc == 0) {
            gone_add(&t->gone, &t->ngone, &t->capgone, o->number);
            obj_kill(t, o);
        } else if (!surely_reached(o)) {
            o->listed = true;
            objs_add(&later, o);
            doubt = true;
        }
    }
    if (doubt) {
        Objs todo = {0};
        uint64_t mark = ++t->marks;
        for (Obj *o = t->all; o; o = o->next)
            if (o->roots && !o->dead) { o->mark = mark; objs_add(&todo, o); }
        mark_reached(&todo, mark);
        for (Obj *o = t->all; o; o = o->next)
            if (o->mark != mark && !o->dead && o->known) objs_add(&todo, o);
        for (size_t i = 0; i < later.n; i++) later.p[i]->listed = false;
        drop_all(t, &todo);
    }
    free(later.p);
    for (size_t i = 0; i < t->nreplaced; i++) gone_add(&t->gone, &t->ngone, &t->capgone, t->replaced[i]);
    t->nreplaced = 0;
}

/* By address: the number of an object's life, for Python code that remembers objects by their address. */
typedef struct Lives {
    PyObject_HEAD
    Map numbers;
    uintptr_t newest;
    struct Lives *next;
} Lives;
static Lives *all_lives;

/* What is known of a class ends with it. */
static void
forget_class(Core *core, PyTypeObject *kind)
{
    TypeInfo *info = map_get(&core->types, (uint64_t)kind);
    if (!info) return;
    map_del(&core->types, (uint64_t)kind);
    for (Thread *t = core->threads; t; t = t->next) if (t->last_info == info) { t->last_info = NULL; t->last_kind = NULL; }
    type_info_free(info);
}

/* The address of an object means none any more: there need be no memory. */
static void
forget_address(uint64_t address)
{
    for (Lives *lives = all_lives; lives; lives = lives->next) map_del(&lives->numbers, address);
    for (Thread *t = watching ? watching->threads : NULL; t; t = t->next) map_del(&t->objects, address);
}

/* Whether this interpreter, which may have a lock of its own, is another than the one that is traced. */
static bool
is_foreign(void)
{
    return has_subinterpreters() && PyInterpreterState_Get() != PyInterpreterState_Main();
}

static void
note_death(PyObject *o)
{
    if (is_foreign()) return;
    forget_address((uint64_t)o);
    if (PyType_Check(o)) unwatch((PyTypeObject *)o);
    if (!watching) return;
    if (PyType_Check(o)) forget_class(watching, (PyTypeObject *)o);
    if (watching->said.used && (PyType_Check(o) || PyFunction_Check(o))) {
        Said *said = map_get(&watching->said, (uint64_t)o);
        map_del(&watching->said, (uint64_t)o);
        if (said) said_free(said);
    }
}
