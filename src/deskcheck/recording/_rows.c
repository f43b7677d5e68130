/* Checks rows of a recording: rules.py says what they must be, and does the same in Python. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 9, CONTEXT = 0x10, COLUMNS = 0x20, GAP = 0x40, KINDS = 8 };
enum { DEPTH = 250, THREADS = 10000, NAME_CHARS = 100000, DIGITS = 4300, EDITED_CHARS = 100001 };
#define OBJECTS 500000
#define NAMES_CHARS ((uint64_t)512 << 20)
enum { BLOCK_EVENTS = 1 << 15, SHORT_NAMES = 300 };
#define NUMBERS ((uint64_t)1 << 53)
#define INT32 ((int64_t)1 << 31)

static const char *const KIND_NAMES[KINDS] = {"call", "line", "return", "yield", "resume", "raise", "unwind", "instruction"};
static const char *const TEXT_NAMES[TEXTS] = {"locals", "stack", "globals", "objects", "caller", "value", "output", "instruction", "left_out"};
enum { LOCALS, STACK, GLOBALS, OBJECTS_COLUMN, CALLER, VALUE, OUTPUT, INSTRUCTION, LEFT_OUT };

/* ---- the objects that a trace has told of: number -> the way of its items ---- */

enum { EMPTY, VALUES, PAIRS, BYTES, GONE };
/* Packed: a table of half a million is what a hostile trace makes its reader keep. */
typedef struct __attribute__((packed)) { uint64_t key; uint32_t row; uint8_t way; } Slot;
typedef struct { Slot *slots; size_t size, used, live; int64_t index; uint32_t row; } Thread;

static Slot *
place(Thread *t, uint64_t key)
{
    if (!t->size) return NULL;
    size_t at = (size_t)(key * 0x9E3779B97F4A7C15u) & (t->size - 1);
    while (t->slots[at].way != EMPTY && t->slots[at].key != key) at = (at + 1) & (t->size - 1);
    return &t->slots[at];
}

static bool
grow(Thread *t)
{
    size_t size = 16;
    while (size < 2 * (t->live + 1)) size *= 2;
    Slot *old = t->slots;
    size_t n = t->size;
    t->slots = calloc(size, sizeof(Slot));
    if (!t->slots) { t->slots = old; return false; }
    t->size = size;
    t->used = 0;
    for (size_t i = 0; i < n; i++) {
        /* One that has gone in this very row stays: a row says something of an object once. */
        if (old[i].way == EMPTY || (old[i].way == GONE && old[i].row != t->row)) continue;
        *place(t, old[i].key) = old[i];
        t->used++;
    }
    free(old);
    return true;
}

/* ---- JSON ---- */

typedef struct {
    const unsigned char *p, *end;
    int depth;
    const char *error;          /* what is wrong; the first counts */
    char said[80];
    bool beyond;                /* not wrong, but more than is kept */
    uint64_t *refs;
    size_t n, cap;
    bool memory;
    bool refer;
    bool named;                 /* the form that begins is the value of a name */
    size_t *objects;            /* how many there are, of all threads */
} In;

static bool
bad(In *in, const char *what)
{
    if (!in->error) in->error = what;
    return false;
}

static void
space(In *in)
{
    while (in->p < in->end && (*in->p == ' ' || *in->p == '\n' || *in->p == '\t' || *in->p == '\r')) in->p++;
}

static int
next(In *in)
{
    space(in);
    return in->p < in->end ? *in->p : -1;
}

static bool
take(In *in, char c)
{
    if (next(in) != c) return bad(in, "not JSON");
    in->p++;
    return true;
}

/* The length of the UTF-8 character at p, surrogates among them; 0 where there is none. */
static int
utf8(const unsigned char *p, const unsigned char *end)
{
    if (*p < 0x80) return 1;
    if (*p < 0xC2) return 0;
    int n = *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : *p < 0xF5 ? 4 : 0;
    if (!n || end - p < n) return 0;
    for (int i = 1; i < n; i++) if ((p[i] & 0xC0) != 0x80) return 0;
    if (*p == 0xE0 && p[1] < 0xA0) return 0;
    if (*p == 0xF0 && p[1] < 0x90) return 0;
    if (*p == 0xF4 && p[1] > 0x8F) return 0;
    return n;
}

static bool
plain_text(const unsigned char *p, const unsigned char *end, size_t most, size_t *chars)
{
    while (p < end) {
        int k = utf8(p, end);
        if (!k || ++*chars > most) return false;
        p += k;
    }
    return true;
}

typedef struct { const unsigned char *p; size_t n; bool escaped, wide; } Text;

/* The first byte that is not ASCII, a control, a quote or a backslash: eight bytes at a time. */
static inline const unsigned char *
past_plain(const unsigned char *p, const unsigned char *end)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    for (; end - p >= 8; p += 8) {
        uint64_t v, quote, back;
        memcpy(&v, p, 8);
        quote = v ^ ones * '"';
        back = v ^ ones * '\\';
        if (((v - ones * 0x20) | (quote - ones) | (back - ones) | v) & high) break;
    }
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') p++;
    return p;
}

static int
hex4(const unsigned char *p)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char c = p[i];
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (d < 0) return -1;
        v = v << 4 | d;
    }
    return v;
}

static bool
string(In *in, Text *text)
{
    if (next(in) != '"') return bad(in, "not a text");
    const unsigned char *p = ++in->p, *end = in->end;
    *text = (Text){p, 0, false, false};
    for (;;) {
        p = past_plain(p, end);
        if (p >= end) return bad(in, "not JSON");
        if (*p == '"') break;
        if (*p == '\\') {
            text->escaped = true;
            if (end - p < 2) return bad(in, "not JSON");
            if (p[1] == 'u') {
                int v = end - p < 6 ? -1 : hex4(p + 2);
                if (v < 0) return bad(in, "not JSON");
                if (v > 0xFF) text->wide = true;
                p += 6;
            } else if (strchr("\"\\/bfnrt", p[1]) && p[1]) p += 2;
            else return bad(in, "not JSON");
        } else {
            int n = *p < 0x20 ? 0 : utf8(p, end);
            if (!n) return bad(in, "not JSON");
            if (*p >= 0xC4) text->wide = true;
            p += n;
        }
    }
    text->n = (size_t)(p - text->p);
    in->p = p + 1;
    return true;
}

static inline bool
is(const Text *text, const char *word)
{
    return !text->escaped && text->n == strlen(word) && !memcmp(text->p, word, text->n);
}

static bool
word(In *in, const char *what)
{
    size_t n = strlen(what);
    if ((size_t)(in->end - in->p) < n || memcmp(in->p, what, n)) return bad(in, "not JSON");
    in->p += n;
    return true;
}

/* A number; whether it is an int in *whole, and which one. */
static bool
number(In *in, bool *whole, int64_t *value)
{
    const unsigned char *p = in->p, *end = in->end;
    bool minus = p < end && *p == '-', over = false;
    if (minus) p++;
    if (p >= end || *p < '0' || *p > '9') return bad(in, "not JSON");
    uint64_t v = 0;
    if (*p == '0') p++;
    else for (; p < end && *p >= '0' && *p <= '9'; p++) {
        unsigned d = *p - '0';
        if (v > (UINT64_MAX - d) / 10) over = true;
        v = v * 10 + d;
    }
    *whole = true;
    if (p < end && *p == '.') {
        *whole = false;
        const unsigned char *first = ++p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        if (p == first) return bad(in, "not JSON");
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        *whole = false;
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        const unsigned char *first = p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        if (p == first) return bad(in, "not JSON");
    }
    in->p = p;
    if (*whole) {
        if (over || v > (uint64_t)INT64_MAX + minus) return bad(in, "a number of more than 64 bits");
        *value = minus ? (int64_t)(0 - v) : (int64_t)v;
    }
    return true;
}

static bool
whole(In *in, int64_t low, int64_t high, const char *what)
{
    bool is_int;
    int64_t v;
    int c = next(in);
    if (c != '-' && (c < '0' || c > '9')) return bad(in, what);
    if (!number(in, &is_int, &v)) return false;
    return (is_int && v >= low && v < high) || bad(in, what);
}

static bool
deeper(In *in)
{
    return ++in->depth <= DEPTH || bad(in, "more than 250 deep");
}

/* Goes through the members of an object: the next one's key; false at its end or where it is none. */
static bool
member(In *in, bool *first, Text *key)
{
    if (*first) {
        if (!take(in, '{') || !deeper(in)) return false;
        if (next(in) == '}') { in->p++; in->depth--; return false; }
    } else if (next(in) == '}') { in->p++; in->depth--; return false; }
    else if (!take(in, ',')) return false;
    *first = false;
    return string(in, key) && take(in, ':');
}

/* The same for the items of a list. */
static bool
element(In *in, bool *first)
{
    if (*first) {
        if (!take(in, '[') || !deeper(in)) return false;
        if (next(in) == ']') { in->p++; in->depth--; return false; }
    } else if (next(in) == ']') { in->p++; in->depth--; return false; }
    else if (!take(in, ',')) return false;
    *first = false;
    return true;
}

static bool
a_string(In *in, const char *what)
{
    Text text;
    if (next(in) != '"') return bad(in, what);
    return string(in, &text);
}

static bool
a_string_or_null(In *in, const char *what)
{
    return next(in) == 'n' ? word(in, "null") : a_string(in, what);
}

/* ---- encoded values ---- */

static bool value(In *in);

static bool
values(In *in, int *count)
{
    if (next(in) != '[') return bad(in, "not a list of values");
    *count = 0;
    for (bool first = true; element(in, &first); ++*count) if (!value(in)) return false;
    return !in->error;
}

static bool
names(In *in)
{
    Text key;
    if (next(in) != '{') return bad(in, "not names with values");
    for (bool first = true; member(in, &first, &key);) {
        in->named = next(in) == '{';
        if (!value(in)) return false;
    }
    return !in->error;
}

static bool
ints(In *in, int64_t low, int64_t high, bool or_null, const char *what)
{
    if (next(in) != '[') return bad(in, what);
    for (bool first = true; element(in, &first);)
        if (!(or_null && next(in) == 'n' ? word(in, "null") : whole(in, low, high, what))) return false;
    return !in->error;
}

static bool
int_text(const Text *t)
{
    if (t->escaped) return false;
    size_t i = t->n && t->p[0] == '-';
    if (i == t->n || t->n > DIGITS) return false;
    for (; i < t->n; i++) if (t->p[i] < '0' || t->p[i] > '9') return false;
    return true;
}

static bool
float_text(const Text *t)
{
    if (t->escaped) return false;
    const unsigned char *p = t->p, *end = p + t->n;
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (end - p == 3 && (!memcmp(p, "nan", 3) || !memcmp(p, "inf", 3))) return true;
    const unsigned char *first = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    if (p == first) return false;
    if (p < end && *p == '.') for (p++; p < end && *p >= '0' && *p <= '9';) p++;
    if (p < end && *p == 'e') {
        p++;
        if (p < end && (*p == '-' || *p == '+')) p++;
        first = p;
        while (p < end && *p >= '0' && *p <= '9') p++;
        if (p == first) return false;
    }
    return p == end;
}

enum {
    K_REF = 1, K_TUPLE = 2, K_FROZENSET = 4, K_ARRAY = 8, K_STR = 16, K_INT = 32, K_FLOAT = 64, K_BYTES = 128,
    K_COMPLEX = 256, K_RANGE = 512, K_SLICE = 1024, K_TEXT = 2048, K_METHOD = 4096, K_UNBOUND = 8192, K_CUT = 16384,
    K_TYPE = 1 << 15, K_NAMES = 1 << 16, K_LENGTH = 1 << 17, K_DTYPE = 1 << 18, K_SELF = 1 << 19, K_EDIT = 1 << 20
};
static const struct { const char *word; unsigned bit; } KEYS[] = {
    {"ref", K_REF}, {"tuple", K_TUPLE}, {"type", K_TYPE}, {"text", K_TEXT}, {"cut", K_CUT}, {"length", K_LENGTH},
    {"str", K_STR}, {"unbound", K_UNBOUND}, {"int", K_INT}, {"float", K_FLOAT}, {"bytes", K_BYTES}, {"method", K_METHOD},
    {"self", K_SELF}, {"range", K_RANGE}, {"slice", K_SLICE}, {"frozenset", K_FROZENSET}, {"array", K_ARRAY},
    {"dtype", K_DTYPE}, {"names", K_NAMES}, {"complex", K_COMPLEX},
    {"edit", K_EDIT},
};
/* The first key that a form is known by, what else it may have, what else it must have. */
static const struct { unsigned key, may, must; } FORMS[] = {
    {K_REF, 0, 0}, {K_TUPLE, K_TYPE | K_NAMES | K_LENGTH | K_CUT, 0}, {K_FROZENSET, K_TYPE | K_LENGTH | K_CUT, 0},
    {K_ARRAY, K_DTYPE | K_LENGTH | K_CUT, K_DTYPE}, {K_STR, K_LENGTH | K_CUT, K_LENGTH | K_CUT}, {K_INT, K_LENGTH | K_CUT, 0},
    {K_FLOAT, 0, 0}, {K_BYTES, K_LENGTH | K_CUT, 0}, {K_COMPLEX, 0, 0}, {K_RANGE, 0, 0}, {K_SLICE, 0, 0},
    {K_TEXT, K_TYPE | K_CUT | K_LENGTH, K_TYPE}, {K_METHOD, K_SELF, K_SELF}, {K_UNBOUND, 0, 0}, {K_EDIT, K_LENGTH | K_CUT, 0}, {K_CUT, K_TYPE, K_TYPE},
};

static unsigned
key_bit(const Text *key)
{
    for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++) if (is(key, KEYS[i].word)) return KEYS[i].bit;
    return 0;
}

static bool
refer(In *in, uint64_t number)
{
    if (!in->refer) return true;
    if (in->n == in->cap) {
        size_t cap = in->cap ? 2 * in->cap : 64;
        uint64_t *more = realloc(in->refs, cap * sizeof *more);
        if (!more) { in->memory = true; return bad(in, "no memory"); }
        in->refs = more;
        in->cap = cap;
    }
    in->refs[in->n++] = number;
    return true;
}

static bool
form(In *in)
{
    unsigned seen = 0;
    int count = 0;
    bool int_right = false, named = in->named;
    Text key, text;
    in->named = false;
    for (bool first = true; member(in, &first, &key);) {
        unsigned bit = key_bit(&key);
        if (!bit || seen & bit) return bad(in, "not an encoded value");
        seen |= bit;
        if (bit & (K_TUPLE | K_FROZENSET | K_ARRAY | K_RANGE | K_SLICE)) {
            if (!values(in, &count)) return false;
            if (bit & (K_RANGE | K_SLICE) && count != 3) return bad(in, "not three parts");
        } else if (bit == K_SELF) {
            if (!value(in)) return false;
        } else if (bit == K_REF) {
            bool is_int;
            int64_t v;
            int c = next(in);
            if (c < '0' || c > '9' || !number(in, &is_int, &v) || !is_int || v >= (int64_t)NUMBERS) return bad(in, "not an identity number");
            if (!refer(in, (uint64_t)v)) return false;
        } else if (bit == K_LENGTH) {
            if (!whole(in, 0, INT64_MAX, "not a length")) return false;
        } else if (bit == K_EDIT) {
            bool one = true;
            if (!named || next(in) != '[') return bad(in, "not an edit");
            for (int i = 0; i < 3; i++) {
                if (!element(in, &one)) return bad(in, "not an edit");
                if (i < 2 ? !whole(in, 0, EDITED_CHARS, "not an edit") : next(in) != '"' || !string(in, &text)) return bad(in, "not an edit");
            }
            if (element(in, &one)) return bad(in, "not an edit");
        } else if (bit == K_UNBOUND) {
            if (next(in) != 't' || !word(in, "true")) return bad(in, "not an encoded value");
        } else if (bit & (K_NAMES | K_COMPLEX)) {
            int n = 0;
            if (next(in) != '[') return bad(in, "not a list of texts");
            for (bool one = true; element(in, &one); n++) {
                if (next(in) != '"' || !string(in, &text)) return bad(in, "not a list of texts");
                if (bit == K_COMPLEX && !float_text(&text)) return bad(in, "not a valid complex");
            }
            if (in->error) return false;
            if (bit == K_COMPLEX && n != 2) return bad(in, "not a valid complex");
        } else {
            if (next(in) != '"') return bad(in, "a part is not text");
            if (!string(in, &text)) return false;
            if (bit == K_INT) int_right = int_text(&text);
            if (bit == K_FLOAT && !float_text(&text)) return bad(in, "not a valid float");
            if (bit == K_BYTES && text.wide) return bad(in, "not a valid bytes");
        }
    }
    if (in->error) return false;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        if (!(seen & FORMS[i].key)) continue;
        if (seen & ~(FORMS[i].key | FORMS[i].may) || (seen & FORMS[i].must) != FORMS[i].must) return bad(in, "not an encoded value");
        if (FORMS[i].key == K_EDIT && !(seen & K_LENGTH) != !(seen & K_CUT)) return bad(in, "not an edit");
        if (FORMS[i].key == K_INT && !(seen & K_CUT ? (seen & K_LENGTH) != 0 : int_right)) return bad(in, "not a valid int");
        return true;
    }
    return bad(in, "not an encoded value");
}

static bool
value(In *in)
{
    bool is_int;
    int64_t v;
    Text text;
    switch (next(in)) {
    case '"': return string(in, &text);
    case '{': return form(in);
    case 'n': return word(in, "null");
    case 't': return word(in, "true");
    case 'f': return word(in, "false");
    case '[': return bad(in, "a list is not an encoded value");
    default: return in->p < in->end ? number(in, &is_int, &v) : bad(in, "not JSON");
    }
}

/* ---- objects ---- */

/* Items, whose way shows in the first: 0 where there are none. Bytes are values too: `all_bytes` says. */
static bool
items(In *in, int *way, bool *all_bytes)
{
    *way = 0;
    *all_bytes = true;
    if (next(in) != '[') return bad(in, "not a list of items");
    for (bool first = true; element(in, &first);) {
        int found = next(in) == '[' ? PAIRS : VALUES;
        if (*way && found != *way) return bad(in, "an item of a mapping that is not a pair");
        *way = found;
        if (found == PAIRS) {
            int count;
            *all_bytes = false;
            if (!values(in, &count)) return false;
            if (count != 2) return bad(in, "an item of a mapping that is not a pair");
        } else {
            bool is_int = false;
            int64_t v = -1;
            int c = next(in);
            if (c == '-' || (c >= '0' && c <= '9')) { if (!number(in, &is_int, &v)) return false; }
            else if (!value(in)) return false;
            if (!is_int || v < 0 || v > 255) *all_bytes = false;
        }
    }
    return !in->error;
}

static bool
fits(In *in, int way, int found, bool all_bytes)
{
    if (found == PAIRS) return way == PAIRS || bad(in, "a list is not an encoded value");
    if (found == VALUES && way == PAIRS) return bad(in, "an item of a mapping that is not a pair");
    if (found == VALUES && way == BYTES && !all_bytes) return bad(in, "not a byte");
    return true;
}

static const char *const CONTENTS[] = {
    "list", "dict", "set", "bytearray", "array", "table", "object", "exception", "iterator", "generator", "function",
    "class", "opaque",
};
enum {
    C_KIND = 1, C_TYPE = 2, C_ITEMS = 4, C_FIELDS = 8, C_BASE = 16, C_TEXT = 32, C_LENGTH = 64, C_CUT = 128, C_SHAPE = 256,
    C_DTYPE = 512, C_SPLICE = 1024, C_NULL = 2048 /* a part that is null */
};
static const struct { const char *word; unsigned bit; } PARTS[] = {
    {"kind", C_KIND}, {"type", C_TYPE}, {"items", C_ITEMS}, {"fields", C_FIELDS}, {"splice", C_SPLICE}, {"length", C_LENGTH},
    {"cut", C_CUT}, {"text", C_TEXT}, {"base", C_BASE}, {"shape", C_SHAPE}, {"dtype", C_DTYPE},
};

/* The content of an object or a change of it; the way of its items, 0 for a change. known: the way that it
   has, 0 where it is not known. */
static bool
object(In *in, int known, bool any, int *way)
{
    unsigned seen = 0;
    int found = 0, kind = -1, item_way = 0;
    bool all_bytes = true, mapping = false;
    Text key, text;
    if (next(in) != '{') return bad(in, "not the content of an object");
    for (bool first = true; member(in, &first, &key);) {
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) if (is(&key, PARTS[i].word)) bit = PARTS[i].bit;
        if (!bit || seen & bit) return bad(in, "not the content of an object");
        seen |= bit;
        bool null = next(in) == 'n';
        if (null) {
            if (!(bit & (C_LENGTH | C_CUT | C_TEXT))) return bad(in, "not the content of an object");
            seen |= C_NULL;
            if (!word(in, "null")) return false;
        } else if (bit == C_ITEMS) {
            if (!items(in, &item_way, &all_bytes)) return false;
        } else if (bit == C_FIELDS) {
            if (!names(in)) return false;
        } else if (bit == C_LENGTH) {
            if (!whole(in, 0, INT64_MAX, "not a length")) return false;
        } else if (bit == C_SHAPE) {
            if (!ints(in, 0, INT64_MAX, false, "not a shape")) return false;
        } else if (bit == C_SPLICE) {
            bool one = true;
            if (next(in) != '[') return bad(in, "not a splice");
            for (int i = 0; i < 3; i++) {
                if (!element(in, &one)) return bad(in, "not a splice");
                if (!(i < 2 ? whole(in, 0, INT64_MAX, "not a splice") : items(in, &item_way, &all_bytes))) return false;
            }
            if (element(in, &one)) return bad(in, "not a splice");
        } else {
            if (next(in) != '"') return bad(in, "a part is not text");
            if (!string(in, &text)) return false;
            if (bit == C_KIND)
                for (size_t i = 0; i < sizeof CONTENTS / sizeof *CONTENTS; i++) if (is(&text, CONTENTS[i])) kind = (int)i;
            if (bit == C_BASE) mapping = is(&text, "dict");
        }
        if (in->error) return false;
    }
    if (in->error) return false;
    if (seen & C_KIND) {
        if (kind < 0) return bad(in, "an object of an unknown kind");
        if (seen & (C_SPLICE | C_NULL) || !(seen & C_TYPE)) return bad(in, "not the content of an object");
        found = kind == 1 || kind == 5 || mapping ? PAIRS : kind == 3 ? BYTES : VALUES;
    } else {
        if (seen & ~(unsigned)(C_SPLICE | C_FIELDS | C_LENGTH | C_CUT | C_TEXT | C_NULL)) return bad(in, "not a change of an object");
        if (!known && !any) return bad(in, "a change of an unknown object");
        found = known ? known : item_way == PAIRS ? PAIRS : VALUES;
    }
    *way = seen & C_KIND ? found : 0;
    return fits(in, found, item_way, all_bytes);
}

static bool
identity(In *in, const Text *key, uint64_t *number)
{
    *number = 0;
    if (key->escaped || !key->n || key->n > 16 || (key->n > 1 && key->p[0] == '0')) return bad(in, "not an identity number");
    for (size_t i = 0; i < key->n; i++) {
        if (key->p[i] < '0' || key->p[i] > '9') return bad(in, "not an identity number");
        *number = *number * 10 + (key->p[i] - '0');
    }
    return true;
}

static bool
objects(In *in, Thread *t)
{
    Text key;
    if (next(in) != '{') return bad(in, "not objects");
    for (bool first = true; member(in, &first, &key);) {
        uint64_t number;
        int way = 0;
        if (!identity(in, &key, &number)) return false;
        Slot *slot = in->refer ? place(t, number) : NULL;
        int known = slot && slot->way != GONE ? slot->way : 0;
        if (slot && slot->way != EMPTY && slot->row == t->row) return bad(in, "an object twice");
        if (next(in) == 'n') {
            if (!word(in, "null")) return false;
            if (known) { slot->way = GONE; slot->row = t->row; t->live--; --*in->objects; }
            continue;
        }
        if (!object(in, known, !in->refer, &way)) return false;
        if (!in->refer) continue;
        if (!way) { slot->row = t->row; continue; }
        if (!known) {
            if (*in->objects >= OBJECTS) { in->beyond = true; return bad(in, "more than 500000 objects at a time"); }
            if (10 * (t->used + 1) > 7 * t->size && !grow(t)) { in->memory = true; return bad(in, "no memory"); }
            slot = place(t, number);
            if (slot->way == EMPTY) t->used++;
            t->live++;
            ++*in->objects;
        }
        *slot = (Slot){number, t->row, (uint8_t)way};
    }
    return !in->error;
}

static bool
caller(In *in)
{
    Text key;
    unsigned seen = 0;
    int count;
    if (next(in) != '{') return bad(in, "not a caller");
    for (bool first = true; member(in, &first, &key);) {
        unsigned bit = is(&key, "frame") ? 1 : is(&key, "offset") ? 2 : is(&key, "at") ? 4 : is(&key, "via") ? 8 : is(&key, "locals") ? 16 : is(&key, "stack") ? 32 : 0;
        if (!bit || seen & bit) return bad(in, "not a caller");
        seen |= bit;
        bool right = bit == 1 ? whole(in, 0, INT32, "a caller without a frame")
            : bit == 2 ? whole(in, -INT32, INT32, "a caller without a place")
            : bit == 4 ? ints(in, -INT32, INT32, true, "not a place in a line")
            : bit == 8 ? a_string_or_null(in, "via is not text")
            : bit == 16 ? names(in) : values(in, &count);
        if (!right) return false;
    }
    return !in->error && ((seen & 3) == 3 || bad(in, "a caller without a place"));
}

static bool
column(In *in, int name, Thread *t)
{
    Text key;
    int count;
    bool right = true;
    switch (name) {
    case LOCALS: case GLOBALS: right = names(in); break;
    case STACK: right = values(in, &count); break;
    case VALUE: right = value(in); break;
    case CALLER: right = caller(in); break;
    case OBJECTS_COLUMN: right = objects(in, t); break;
    case LEFT_OUT:
        if (next(in) != '{') return bad(in, "not numbers");
        for (bool first = true; member(in, &first, &key);) if (!whole(in, 0, INT64_MAX, "not numbers")) return false;
        right = !in->error;
        break;
    }
    if (!right) return false;
    space(in);
    return in->p == in->end || bad(in, "more than one JSON text");
}

/* ---- the checker ---- */

typedef struct { PyObject_HEAD Thread **threads; size_t objects; uint64_t names; int references; } Checker;

static Thread *
thread_of(Checker *self, int64_t number)
{
    if (!self->threads[number]) self->threads[number] = calloc(1, sizeof(Thread));
    return self->threads[number];
}

typedef struct { int64_t thread, index; const char *column; } At;

static void
raise(In *in, const At *at)
{
    if (in->memory) { PyErr_NoMemory(); return; }
    PyErr_Format(in->beyond ? PyExc_OverflowError : PyExc_ValueError, "%s%s%s", at->column ? at->column : "", at->column ? ": " : "",
                 in->error ? in->error : "damaged");
}

/* Count long names, which each row of a file has: not wrong, but more than is kept. */
static bool
named(Checker *self, In *in, size_t chars)
{
    if (chars > SHORT_NAMES) self->names += chars;
    if (self->names <= NAMES_CHARS) return true;
    in->beyond = true;
    return bad(in, "names of more than 536870912 characters in all rows");
}

/* One row, whose numbers are known to be right. present: bit n says that the n-th text is there. */
static bool
check_row(Checker *self, In *in, At *at, const Text texts[TEXTS], unsigned present)
{
    Thread *t = thread_of(self, at->thread);
    if (!t) { in->memory = true; return false; }
    at->column = NULL;
    if (self->references && at->index != t->index) {
        snprintf(in->said, sizeof in->said, "the next event of thread %lld should have index %lld", (long long)at->thread, (long long)t->index);
        return bad(in, in->said);
    }
    t->row++;
    in->n = 0;
    in->refer = self->references;
    in->objects = &self->objects;
    for (unsigned left = present; left; left &= left - 1) {
        int i = __builtin_ctz(left);
        at->column = TEXT_NAMES[i];
        if (i == OUTPUT || i == INSTRUCTION) {
            size_t chars = 0;
            if (!plain_text(texts[i].p, texts[i].p + texts[i].n, SIZE_MAX, &chars)) return bad(in, "not UTF-8");
        } else if (texts[i].n) {
            in->p = texts[i].p;
            in->end = in->p + texts[i].n;
            in->depth = 0;
            if (!column(in, i, t)) return false;
        }
    }
    at->column = NULL;
    for (size_t i = 0; i < in->n; i++) {
        Slot *slot = place(t, in->refs[i]);
        if (!slot || slot->way == EMPTY || slot->way == GONE) {
            snprintf(in->said, sizeof in->said, "it refers to #%llu, which is unknown", (unsigned long long)in->refs[i]);
            return bad(in, in->said);
        }
    }
    t->index++;
    return true;
}

typedef struct { const unsigned char *p, *end; bool bad; } Bytes;

static inline uint64_t
varint(Bytes *b)
{
    if (b->p < b->end && *b->p < 0x80) return *b->p++;
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (b->p >= b->end) break;
        unsigned char c = *b->p++;
        if (shift == 63 && c > 1) break;
        v |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80) return v;
    }
    b->bad = true;
    return 0;
}

static Text
bytes_text(Bytes *b)
{
    uint64_t n = varint(b);
    if (b->bad || n > (uint64_t)(b->end - b->p)) { b->bad = true; return (Text){0}; }
    b->p += n;
    return (Text){b->p - n, (size_t)n, false, false};
}

static PyObject *
checker_block(Checker *self, PyObject *block)
{
    Py_buffer view;
    if (PyObject_GetBuffer(block, &view, PyBUF_SIMPLE) < 0) return NULL;
    Bytes b = {(unsigned char *)view.buf + 3, (unsigned char *)view.buf + view.len, false};
    In in = {0};
    At at = {0, -1, NULL};
    uint64_t codes = 0, frame = 0, code = 0;
    uint32_t *lengths = NULL;       /* of the names of each code, in characters */
    long long rows = 0;
    PyObject *result = NULL;
    if (view.len < 3 || memcmp(view.buf, "\xdcK\x01", 3)) { PyErr_SetString(PyExc_ValueError, "not a block of events"); goto done; }
    while (b.p < b.end) {
        const unsigned char *began = b.p;
        unsigned head = *b.p++;
        at.index++;
        at.column = NULL;
        if (head & CONTEXT) {
            uint64_t thread = varint(&b), index = varint(&b);
            frame = varint(&b);
            code = varint(&b);
            if (b.bad) goto damaged;
            if (thread >= THREADS) { bad(&in, "its thread is not in 0..9999"); goto wrong; }
            if (index >= INT64_MAX) { bad(&in, "its index is not a number"); goto wrong; }
            at.thread = (int64_t)thread;
            at.index = (int64_t)index;
            if (frame >= (uint64_t)INT32) { bad(&in, "its frame is not a number"); goto wrong; }
            if (code == codes) {
                Text function = bytes_text(&b), file = bytes_text(&b);
                if (b.bad) goto damaged;
                size_t in_function = 0, in_file = 0;
                if (!plain_text(function.p, function.p + function.n, NAME_CHARS, &in_function)
                    || !plain_text(file.p, file.p + file.n, NAME_CHARS, &in_file)) {
                    bad(&in, "it has no function, or no file");
                    goto wrong;
                }
                if (codes % 256 == 0) {
                    uint32_t *more = realloc(lengths, (codes + 256) * sizeof *lengths);
                    if (!more) { in.memory = true; goto wrong; }
                    lengths = more;
                }
                lengths[codes++] = (uint32_t)(in_function + in_file);
            }
        }
        if (code >= codes || (head & 0xF) >= KINDS || head & 0x80) { b.p = began; goto damaged; }
        uint64_t line = varint(&b), offset = varint(&b);
        unsigned present = 0;
        if (head & COLUMNS) {
            if (b.p >= b.end) goto damaged;
            present = *b.p++;
        }
        if (b.bad) goto damaged;
        if (line >= (uint64_t)INT32 || offset > (uint64_t)INT32) { bad(&in, "its line is not a number"); goto wrong; }
        present |= (head & GAP) << 2;
        Text texts[TEXTS];
        for (unsigned left = present; left; left &= left - 1) texts[__builtin_ctz(left)] = bytes_text(&b);
        if (b.bad) goto damaged;
        if (rows == BLOCK_EVENTS) { bad(&in, "more events than a block has"); goto wrong; }
        if (!check_row(self, &in, &at, texts, present)) goto wrong;
        if (!named(self, &in, lengths[code])) goto wrong;
        rows++;
    }
    result = PyLong_FromLongLong(rows);
    goto done;
damaged:
    PyErr_Format(PyExc_ValueError, "the block ends or is damaged at byte %zd of %zd, after %lld events",
                 (Py_ssize_t)(b.p - (unsigned char *)view.buf), view.len, rows);
    goto done;
wrong:
    raise(&in, &at);
done:
    free(in.refs);
    free(lengths);
    PyBuffer_Release(&view);
    return result;
}

static bool
int_of(PyObject *o, int64_t low, int64_t high, int64_t *v)
{
    int overflow;
    if (!PyLong_CheckExact(o)) return false;
    long long got = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (got == -1 && PyErr_Occurred()) PyErr_Clear();
    *v = got;
    return !overflow && got >= low && got < high;
}

static PyObject *
checker_row(Checker *self, PyObject *row)
{
    In in = {0};
    At at = {0, 0, NULL};
    int64_t ignored;
    PyObject *kept[TEXTS] = {NULL};
    Text texts[TEXTS] = {{0}};
    unsigned present = 0;
    bool right = false;
    if (!PyTuple_Check(row) || PyTuple_GET_SIZE(row) != 8 + TEXTS) {
        PyErr_SetString(PyExc_ValueError, "not the fields of an event");
        return NULL;
    }
#define ITEM(i) PyTuple_GET_ITEM(row, i)
    if (!int_of(ITEM(0), 0, THREADS, &at.thread)) { bad(&in, "its thread is not in 0..9999"); goto done; }
    if (!int_of(ITEM(1), 0, INT64_MAX, &at.index)) { bad(&in, "its index is not a number"); goto done; }
    bool kind = false;
    if (PyUnicode_Check(ITEM(2)))
        for (int i = 0; i < KINDS; i++) kind = kind || PyUnicode_CompareWithASCIIString(ITEM(2), KIND_NAMES[i]) == 0;
    if (!kind) { bad(&in, "its kind is unknown"); goto done; }
    if (!int_of(ITEM(3), 0, INT32, &ignored)) { bad(&in, "its frame is not a number"); goto done; }
    for (int i = 4; i < 6; i++)
        if (!PyUnicode_CheckExact(ITEM(i)) || PyUnicode_GET_LENGTH(ITEM(i)) > NAME_CHARS) { bad(&in, "it has no function, or no file"); goto done; }
    for (int i = 6; i < 8; i++) if (!int_of(ITEM(i), -INT32, INT32, &ignored)) { bad(&in, "its line is not a number"); goto done; }
    for (int i = 0; i < TEXTS; i++) {
        PyObject *text = ITEM(8 + i);
        if (text == Py_None) continue;
        if (!PyUnicode_CheckExact(text)) { bad(&in, "a column is not text"); goto done; }
        Py_ssize_t n;
        const char *p = PyUnicode_AsUTF8AndSize(text, &n);
        if (!p) {  /* it has lone surrogates */
            PyErr_Clear();
            kept[i] = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
            if (!kept[i]) goto failed;
            p = PyBytes_AS_STRING(kept[i]);
            n = PyBytes_GET_SIZE(kept[i]);
        }
        texts[i] = (Text){(const unsigned char *)p, (size_t)n, false, false};
        present |= 1u << i;
    }
    right = check_row(self, &in, &at, texts, present) && named(self, &in, (size_t)(PyUnicode_GET_LENGTH(ITEM(4)) + PyUnicode_GET_LENGTH(ITEM(5))));
done:
    if (!right) raise(&in, &at);
failed:
    for (int i = 0; i < TEXTS; i++) Py_XDECREF(kept[i]);
    free(in.refs);
    return right ? Py_NewRef(Py_None) : NULL;
}

static PyObject *
checker_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *words[] = {"references", NULL};
    int references = 1;
    if (!PyArg_ParseTupleAndKeywords(args, named, "|p", words, &references)) return NULL;
    Checker *self = (Checker *)type->tp_alloc(type, 0);
    if (!self) return NULL;
    self->references = references;
    self->threads = calloc(THREADS, sizeof(Thread *));
    if (!self->threads) { Py_DECREF(self); return PyErr_NoMemory(); }
    return (PyObject *)self;
}

static void
checker_dealloc(Checker *self)
{
    PyTypeObject *type = Py_TYPE(self);
    for (int i = 0; self->threads && i < THREADS; i++) if (self->threads[i]) { free(self->threads[i]->slots); free(self->threads[i]); }
    free(self->threads);
    type->tp_free((PyObject *)self);
}

static PyMethodDef methods[] = {
    {"block", (PyCFunction)checker_block, METH_O, "block(block): check a binary block; how many events it has"},
    {"row", (PyCFunction)checker_row, METH_O, "row(row): check one row"},
    {NULL},
};
static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "deskcheck.recording._rows.Checker",
    .tp_basicsize = sizeof(Checker),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Checks rows as they come.",
    .tp_new = checker_new,
    .tp_dealloc = (destructor)checker_dealloc,
    .tp_methods = methods,
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_rows", .m_doc = "Rows of a recording, checked.", .m_size = 0};

PyMODINIT_FUNC
PyInit__rows(void)
{
    if (PyType_Ready(&type) < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddObjectRef(module, "Checker", (PyObject *)&type) < 0) Py_CLEAR(module);
    return module;
}
