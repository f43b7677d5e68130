/* Changes of long texts: a name that had one and has another is written as the part between their common ends.

   No text is referred to between events. The latest ones are copied, as far as they are shown, each to a place that its hash
   chooses; where another has taken the place meanwhile, the text is written whole. */

enum { EDITED_CHARS = 64, EDITED_MOST = 100000, COPIES = 64 };  /* texts of other lengths are written whole; how many copies there are */
typedef struct Copy { Val v; int kind; Py_ssize_t n; size_t cap; char *p; } Copy;

static void
copies_free(Thread *t)
{
    for (int i = 0; t->copies && i < COPIES; i++) free(t->copies[i].p);
    free(t->copies);
}

static void
copy_text(Thread *t, PyObject *o, Val v, Py_ssize_t shown)
{
    if (!t->copies) t->copies = must(calloc(COPIES, sizeof *t->copies));
    Copy *c = &t->copies[v.b % COPIES];
    c->v = v;
    c->kind = PyUnicode_KIND(o);
    c->n = shown;
    size_t size = (size_t)(shown * c->kind);
    if (size > c->cap) { free(c->p); c->p = must(malloc(c->cap = size + size / 2)); }
    memcpy(c->p, PyUnicode_DATA(o), size);
}

/* How many of the first (`back`: last) characters are the same, up to `most`. */
static Py_ssize_t
common(const Copy *c, PyObject *o, Py_ssize_t shown, Py_ssize_t most, bool back)
{
    int kind = PyUnicode_KIND(o);
    const void *data = PyUnicode_DATA(o);
    Py_ssize_t n = 0, step = 8 / kind;
    if (kind == c->kind)
        for (; n + step <= most; n += step) {
            Py_ssize_t x = back ? c->n - n - step : n, y = back ? shown - n - step : n;
            if (memcmp(c->p + x * kind, (const char *)data + y * kind, 8)) break;
        }
    while (n < most && PyUnicode_READ(c->kind, c->p, back ? c->n - 1 - n : n) == PyUnicode_READ(kind, data, back ? shown - 1 - n : n)) n++;
    return n;
}

/* The value of a name that had the value `old`: a text as what changed in it, where that is less. */
static int
write_changed(Thread *t, Buf *b, PyObject *o, Val old, Val now)
{
    Py_ssize_t limit = t->core->text_chars, n, shown;
    if ((now.a & 0xFF) != V_STR || (n = PyUnicode_GET_LENGTH(o)) < EDITED_CHARS) return write_value(t, b, o);
    shown = n > limit ? limit : n;
    if (shown > EDITED_MOST || surrogate_pair(o, shown)) return write_value(t, b, o);
    Copy *c = t->copies ? &t->copies[old.b % COPIES] : NULL;
    Py_ssize_t head = 0, tail = 0;
    if (c && c->p && (old.a & 0xFF) == V_STR && same(c->v, old)) {
        Py_ssize_t most = c->n < shown ? c->n : shown;
        head = common(c, o, shown, most, false);
        tail = common(c, o, shown, most - head, true);
    }
    bool edited = head + tail >= EDITED_CHARS;
    if (edited) {
        buf_lit(b, "{\"edit\":[");
        buf_int(b, head);
        buf_byte(b, ',');
        buf_int(b, c->n - head - tail);
        buf_byte(b, ',');
        buf_json_part(b, o, head, shown - tail);
        buf_byte(b, ']');
        if (n > shown) {
            buf_lit(b, ",\"length\":");
            buf_int(b, n);
            buf_lit(b, ",\"cut\":\"long\"");
        }
        buf_byte(b, '}');
    }
    copy_text(t, o, now, shown);
    return edited ? 0 : write_value(t, b, o);
}
