/* Events as bytes, many to a block (recording/block.py). */

static const char MAGIC[] = "\xdcK\x01";
enum { CONTEXT = 0x10, COLUMNS = 0x20, GAP = 0x40 };

static int
hand_over(Core *core)
{
    if (core->block.n) {
        PyObject *block = PyBytes_FromStringAndSize(core->block.p, (Py_ssize_t)core->block.n);
        if (!block) return -1;
        core->block.n = 0;
        core->block_number++;
        if (core->mirror) { core->mirror->size = 0; core->mirror->block = core->block_number; }
        core->block_codes = 0;
        core->block_info = NULL;
        int failed = PyList_Append(core->pending, block);
        Py_DECREF(block);
        if (failed) return -1;
    }
    if (core->emitting) return 0;  /* another thread is at it, and takes this one too */
    core->emitting = true;
    int failed = 0;
    while (!failed && PyList_GET_SIZE(core->pending)) {
        PyObject *block = Py_NewRef(PyList_GET_ITEM(core->pending, 0));
        PyObject *done = NULL;
        if (PyList_SetSlice(core->pending, 0, 1, NULL) == 0)
            done = QUIETLY(PyObject_CallMethodOneArg(core->tracer, S_emit, block));
        failed = done == NULL;
        Py_XDECREF(done);
        Py_DECREF(block);
    }
    core->emitting = false;
    return failed ? -1 : 0;
}

/* What was left out since the last event, as JSON; nothing if nothing was. */
static void
write_left_out(Thread *t, Buf *b)
{
    static const char *const names[] = {"{\"deep\":", "{\"repeated\":", "{\"called\":"};
    for (int i = 0; i < LEFT_OUT; i++) {
        if (!t->left_out[i]) continue;
        if (b->n) { buf_byte(b, ','); buf_put(b, names[i] + 1, strlen(names[i]) - 1); }
        else buf_put(b, names[i], strlen(names[i]));
        buf_int(b, t->left_out[i]);
        t->left_out[i] = 0;
    }
    if (b->n) buf_byte(b, '}');
}

static char *
put_varint(char *p, uint64_t v)
{
    while (v >= 0x80) { *p++ = (char)(v | 0x80); v >>= 7; }
    *p++ = (char)v;
    return p;
}

static void
put_text(Buf *b, const char *p, size_t n)
{
    buf_varint(b, n);
    buf_put(b, p, n);
}

static int
add_to_block(Thread *t, int kind, Rec *r, int line, int offset, Buf **texts, Buf *output)
{
    Core *core = t->core;
    if (!core->on) return 0;  /* stopped by another thread in the middle of this event */
    Buf *b = &core->block;
    size_t had = b->n;
    if (!b->n) buf_put(b, MAGIC, 3);
    Info *info = r->info;
    bool context = core->block_info != info || core->block_frame != r->number || core->block_thread != t->number
        || core->block_index + 1 != t->index;
    int mask = t->instruction ? 1 << 7 : 0;
    for (int i = 0; i < 6; i++) mask |= (texts[i]->n != 0) << i;
    mask |= (output->n != 0) << 6;
    bool gap = t->left_out[DEEP] | t->left_out[REPEATED] | t->left_out[CALLED];
    enum { SIX_NUMBERS = 64 };
    buf_room(b, SIX_NUMBERS);
    char *p = b->p + b->n;
    *p++ = (char)(kind | (context ? CONTEXT : 0) | (mask ? COLUMNS : 0) | (gap ? GAP : 0));
    if (context) {
        p = put_varint(p, (uint64_t)t->number);
        p = put_varint(p, (uint64_t)t->index);
        p = put_varint(p, (uint64_t)r->number);
        bool named = info->block == core->block_number + 1;
        if (!named) {
            info->block = core->block_number + 1;
            info->block_code = core->block_codes++;
        }
        p = put_varint(p, (uint64_t)info->block_code);
        if (!named) {
            b->n = (size_t)(p - b->p);
            PyObject *names[] = {info->function, info->file};
            for (int i = 0; i < 2; i++) {
                Buf text = {0};
                buf_text(&text, names[i]);
                put_text(b, text.p, text.n);
                buf_free(&text);
            }
            buf_room(b, SIX_NUMBERS);
            p = b->p + b->n;
        }
        core->block_thread = t->number;
        core->block_frame = r->number;
        core->block_info = info;
    }
    core->block_index = t->index;
    p = put_varint(p, (uint64_t)line);
    p = put_varint(p, (uint64_t)(offset + 1));
    if (mask) *p++ = (char)mask;
    b->n = (size_t)(p - b->p);
    for (int rest = mask & 0x7F; rest; rest &= rest - 1) {
        int i = __builtin_ctz((unsigned)rest);
        Buf *text = i == 6 ? output : texts[i];
        put_text(b, text->p, text->n);
    }
    if (t->instruction) {
        Py_ssize_t n;
        const char *text = PyUnicode_AsUTF8AndSize(t->instruction, &n);
        if (!text) { PyErr_Clear(); text = "<instruction>"; n = 13; }
        put_text(b, text, (size_t)n);
    }
    if (gap) {
        Buf left_out = {0};
        write_left_out(t, &left_out);
        put_text(b, left_out.p, left_out.n);
        buf_free(&left_out);
    }
    if (core->mirror && b->n <= core->mirror_room) {
        memcpy(core->mirror->data + had, b->p + had, b->n - had);
        __atomic_store_n(&core->mirror->size, b->n, __ATOMIC_RELEASE);
    }
    return b->n >= core->block_bytes ? hand_over(core) : 0;
}
