"""The texts of the families in `families`: each family is one task, written several times by hand.

The function that is called is the last that a text defines. All texts of a family give the same result
for the same arguments; they differ in names, loops, the order of things and in what they keep.
"""

from collections.abc import Mapping, Sequence
from textwrap import dedent

_COLLATZ = """
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
----
def hailstone_length(number):
    count = 0
    while True:
        if number == 1:
            return count
        count = count + 1
        if number % 2 == 1:
            number = number * 3 + 1
        else:
            number //= 2
----
def next_value(x):
    if x % 2:
        return 3 * x + 1
    return x // 2


def stopping_time(start):
    x = start
    k = 0
    while x > 1:
        x = next_value(x)
        k += 1
    return k
----
def steps_to_one(value):
    total = 0
    while value > 1:
        odd = value % 2
        value = value * 3 + 1 if odd == 1 else value // 2
        total = total + 1
    return total
----
def collatz_steps(m):
    s = 0
    while m != 1:
        while m % 2 == 0:
            m //= 2
            s += 1
        if m == 1:
            break
        m = 3 * m + 1
        s += 1
    return s
"""

_COLLATZ_LONGEST = """
def longest_chain(limit):
    best = 1
    best_steps = 0
    for start in range(1, limit + 1):
        n = start
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > best_steps:
            best = start
            best_steps = steps
    return best
----
def champion(n):
    winner = 1
    record = 0
    i = 1
    while i <= n:
        x = i
        length = 0
        while x > 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            length = length + 1
        if length > record:
            record = length
            winner = i
        i += 1
    return winner
----
def chain(value):
    count = 0
    while value != 1:
        if value % 2 == 1:
            value = value * 3 + 1
        else:
            value //= 2
        count += 1
    return count


def best_start(top):
    best = 1
    longest = 0
    for k in range(1, top + 1):
        found = chain(k)
        if found > longest:
            longest = found
            best = k
    return best
----
def longest(bound):
    best = (0, 1)
    for n in range(1, bound + 1):
        m = n
        s = 0
        while m != 1:
            s += 1
            if m % 2:
                m = 3 * m + 1
                continue
            m = m // 2
        if s > best[0]:
            best = (s, n)
    return best[1]
"""

_BINARY_COUNTER = """
def count_up(n):
    bits = [0]
    for _ in range(n):
        i = 0
        while i < len(bits) and bits[i] == 1:
            bits[i] = 0
            i += 1
        if i == len(bits):
            bits.append(1)
        else:
            bits[i] = 1
    return bits
----
def binary_counter(limit):
    digits = [0]
    step = 0
    while step < limit:
        carry = 1
        k = 0
        while carry == 1:
            if k == len(digits):
                digits.append(0)
            if digits[k] == 0:
                digits[k] = 1
                carry = 0
            else:
                digits[k] = 0
            k = k + 1
        step = step + 1
    return digits
----
def increment(bits):
    for i in range(len(bits)):
        if bits[i] == 0:
            bits[i] = 1
            return
        bits[i] = 0
    bits.append(1)


def counter(times):
    bits = [0]
    while times > 0:
        increment(bits)
        times -= 1
    return bits
----
def run_counter(n):
    register = [0]
    for count in range(n):
        place = 0
        while place < len(register):
            register[place] = 1 - register[place]
            if register[place] == 1:
                break
            place += 1
        else:
            register.append(1)
    return register
----
def add_ones(n):
    a = [0]
    while n:
        carry = 1
        for j in range(len(a)):
            total = a[j] + carry
            a[j] = total % 2
            carry = total // 2
            if carry == 0:
                break
        if carry == 1:
            a.append(1)
        n = n - 1
    return a
"""

_ODOMETER = """
def odometer(n):
    wheels = [0]
    for _ in range(n):
        i = 0
        while i < len(wheels) and wheels[i] == 9:
            wheels[i] = 0
            i += 1
        if i == len(wheels):
            wheels.append(1)
        else:
            wheels[i] += 1
    return wheels
----
def tick(digits):
    for k in range(len(digits)):
        digits[k] = digits[k] + 1
        if digits[k] < 10:
            return
        digits[k] = 0
    digits.append(1)


def count(times):
    digits = [0]
    while times > 0:
        tick(digits)
        times = times - 1
    return digits
----
def meter(limit):
    places = [0]
    done = 0
    while done < limit:
        carry = 1
        for p in range(len(places)):
            total = places[p] + carry
            places[p] = total % 10
            carry = total // 10
            if not carry:
                break
        if carry:
            places.append(carry)
        done += 1
    return places
----
def roll(n):
    ring = [0]
    while n:
        n -= 1
        position = 0
        while True:
            if position == len(ring):
                ring.append(1)
                break
            if ring[position] == 9:
                ring[position] = 0
                position += 1
            else:
                ring[position] = ring[position] + 1
                break
    return ring
"""

_FIBONACCI = """
def fibonacci(n):
    a = 0
    b = 1
    for _ in range(n):
        a, b = b, a + b
    return a
----
def fib(n):
    previous, current = 0, 1
    while n > 0:
        following = previous + current
        previous = current
        current = following
        n -= 1
    return previous
----
def nth(index):
    pair = [0, 1]
    k = 0
    while k < index:
        pair.append(pair[0] + pair[1])
        pair.pop(0)
        k += 1
    return pair[0]
----
def fib_number(count):
    x = 0
    y = 1
    for i in range(count):
        if i % 2 == 0:
            x = x + y
        else:
            y = x + y
    return x if count % 2 == 0 else y
"""

_FIBONACCI_CALLS = """
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
----
def f(k):
    if k == 0:
        return 0
    if k == 1:
        return 1
    left = f(k - 1)
    right = f(k - 2)
    return left + right
----
def rabbits(month):
    if month > 1:
        young = rabbits(month - 2)
        old = rabbits(month - 1)
        total = young + old
    else:
        total = month
    return total
----
def grow(n):
    total = 0
    while n > 1:
        total += grow(n - 2)
        n -= 1
    return total + n
"""

_BUBBLE_SORT = """
def bubble_sort(items):
    n = len(items)
    for i in range(n):
        for j in range(n - 1 - i):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items
----
def sort_list(values):
    swapped = True
    while swapped:
        swapped = False
        for k in range(1, len(values)):
            if values[k - 1] > values[k]:
                keep = values[k]
                values[k] = values[k - 1]
                values[k - 1] = keep
                swapped = True
    return values
----
def order(a):
    end = len(a) - 1
    while end > 0:
        i = 0
        while i < end:
            if a[i + 1] < a[i]:
                a[i], a[i + 1] = a[i + 1], a[i]
            i += 1
        end -= 1
    return a
----
def one_pass(row, stop):
    changed = False
    for p in range(stop):
        left = row[p]
        right = row[p + 1]
        if left > right:
            row[p] = right
            row[p + 1] = left
            changed = True
    return changed


def sort_row(row):
    stop = len(row) - 1
    while one_pass(row, stop):
        stop -= 1
    return row
"""

_INSERTION_SORT = """
def insertion_sort(items):
    for i in range(1, len(items)):
        key = items[i]
        j = i - 1
        while j >= 0 and items[j] > key:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = key
    return items
----
def sort_cards(hand):
    i = 1
    while i < len(hand):
        k = i
        while k > 0 and hand[k - 1] > hand[k]:
            hand[k - 1], hand[k] = hand[k], hand[k - 1]
            k = k - 1
        i = i + 1
    return hand
----
def insert(done, value):
    place = 0
    while place < len(done) and done[place] <= value:
        place += 1
    done.insert(place, value)


def build(values):
    done = []
    for value in values:
        insert(done, value)
    return done
----
def ordered(numbers):
    result = []
    while numbers:
        x = numbers.pop(0)
        at = len(result)
        for index in range(len(result)):
            if result[index] > x:
                at = index
                break
        result.insert(at, x)
    return result
"""

_SELECTION_SORT = """
def selection_sort(items):
    n = len(items)
    for i in range(n - 1):
        low = i
        for j in range(i + 1, n):
            if items[j] < items[low]:
                low = j
        if low != i:
            items[i], items[low] = items[low], items[i]
    return items
----
def sort_values(values):
    start = 0
    while start < len(values):
        best = start
        k = start + 1
        while k < len(values):
            if values[k] < values[best]:
                best = k
            k += 1
        keep = values[start]
        values[start] = values[best]
        values[best] = keep
        start += 1
    return values
----
def smallest(numbers):
    found = numbers[0]
    for number in numbers:
        if number < found:
            found = number
    return found


def take_in_order(numbers):
    result = []
    while len(numbers) > 0:
        least = smallest(numbers)
        numbers.remove(least)
        result.append(least)
    return result
----
def arrange(a):
    end = len(a) - 1
    while end > 0:
        high = 0
        for p in range(1, end + 1):
            if a[p] > a[high]:
                high = p
        a[high], a[end] = a[end], a[high]
        end -= 1
    return a
"""

_GCD = """
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a
----
def common_divisor(x, y):
    while y != 0:
        rest = x % y
        x = y
        y = rest
    return x
----
def divide_out(m, n):
    if n == 0:
        return m
    return divide_out(n, m % n)
----
def euclid(p, q):
    while True:
        if p < q:
            p, q = q, p
        if q == 0:
            break
        p = p % q
    return p
"""

_GCD_BY_SUBTRACTION = """
def gcd(a, b):
    while a != b:
        if a > b:
            a = a - b
        else:
            b = b - a
    return a
----
def measure(x, y):
    while True:
        if x == y:
            return x
        if x < y:
            y -= x
        else:
            x -= y
----
def common(m, n):
    while n > 0:
        if m < n:
            m, n = n, m
        m -= n
        if m == 0:
            return n
    return m
----
def smaller_sides(long, short):
    squares = 0
    while long != short:
        if long < short:
            long, short = short, long
        long = long - short
        squares += 1
    return long
"""

_COPRIME_PAIRS = """
def coprime_pairs(n):
    count = 0
    for i in range(1, n + 1):
        for j in range(1, i):
            a = i
            b = j
            while b:
                a, b = b, a % b
            if a == 1:
                count += 1
    return count
----
def gcd(x, y):
    while y > 0:
        x, y = y, x % y
    return x


def count_pairs(limit):
    found = 0
    for high in range(2, limit + 1):
        for low in range(1, high):
            if gcd(high, low) == 1:
                found = found + 1
    return found
----
def pairs(top):
    total = 0
    p = 2
    while p <= top:
        q = 1
        while q < p:
            m = p
            k = q
            while k != 0:
                rest = m % k
                m = k
                k = rest
            if m == 1:
                total += 1
            q += 1
        p += 1
    return total
----
def is_coprime(a, b):
    while b:
        rest = a % b
        a = b
        b = rest
    return a == 1


def how_many(n):
    number = 0
    for a in range(1, n + 1):
        b = 1
        while b < a:
            number += is_coprime(a, b)
            b += 1
    return number
"""

_STRING_REWRITING = """
def rewrite(word):
    while "ba" in word:
        word = word.replace("ba", "ab", 1)
    return word
----
def normal_form(text):
    at = text.find("ba")
    while at != -1:
        text = text[:at] + "ab" + text[at + 2:]
        at = text.find("ba")
    return text
----
def apply_rule(s):
    for i in range(len(s) - 1):
        if s[i] == "b" and s[i + 1] == "a":
            return s[:i] + "ab" + s[i + 2:]
    return s


def derive(s):
    while True:
        following = apply_rule(s)
        if following == s:
            return s
        s = following
----
def settle(tape):
    i = 0
    while i < len(tape) - 1:
        pair = tape[i:i + 2]
        if pair == "ba":
            tape = tape[:i] + "ab" + tape[i + 2:]
            i = 0
        else:
            i += 1
    return tape
"""

_STACK_MACHINE = """
def run(code, times):
    stack = [times, 0]
    pc = 0
    while pc < len(code):
        op = code[pc]
        pc += 1
        if op == "add":
            top = stack.pop()
            stack[-1] = (stack[-1] + top) % 100
        elif op == "mul":
            top = stack.pop()
            stack[-1] = (stack[-1] * top) % 100
        elif op == "dup":
            stack.append(stack[-1])
        elif op == "loop":
            stack[0] -= 1
            if stack[0] > 0:
                pc = 0
        else:
            stack.append(int(op))
    return stack[-1]
----
def machine(program, n):
    count = n
    values = [0]
    at = 0
    while True:
        if at == len(program):
            return values[-1]
        word = program[at]
        at = at + 1
        if word == "loop":
            count = count - 1
            if count > 0:
                at = 0
        elif word == "dup":
            values.append(values[-1])
        elif word == "add":
            right = values.pop()
            left = values.pop()
            values.append((left + right) % 100)
        elif word == "mul":
            right = values.pop()
            left = values.pop()
            values.append(left * right % 100)
        else:
            values.append(int(word))
----
def step(word, stack):
    if word == "add" or word == "mul":
        b = stack.pop()
        a = stack.pop()
        result = a + b if word == "add" else a * b
        stack.append(result % 100)
    elif word == "dup":
        stack.append(stack[-1])
    else:
        stack.append(int(word))


def interpret(words, rounds):
    stack = [0]
    while rounds > 0:
        for word in words:
            if word != "loop":
                step(word, stack)
        rounds -= 1
    return stack.pop()
----
def evaluate(ops, repeat):
    s = [0]
    for _ in range(repeat):
        for op in ops:
            if op == "loop":
                break
            if op == "dup":
                s = s + s[-1:]
                continue
            if op == "add":
                s = s[:-2] + [(s[-2] + s[-1]) % 100]
            elif op == "mul":
                s = s[:-2] + [(s[-2] * s[-1]) % 100]
            else:
                s = s + [int(op)]
    return s[-1]
"""

_PRIMES = """
def count_primes(n):
    count = 0
    for k in range(2, n):
        prime = True
        d = 2
        while d * d <= k:
            if k % d == 0:
                prime = False
                break
            d += 1
        if prime:
            count += 1
    return count
----
def is_prime(number):
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor = divisor + 1
    return True


def primes_below(limit):
    found = 0
    for number in range(2, limit):
        if is_prime(number):
            found = found + 1
    return found
----
def how_many_primes(top):
    total = 0
    i = 2
    while i < top:
        j = 2
        while i % j != 0:
            j += 1
        if j == i:
            total += 1
        i += 1
    return total
----
def primes(n):
    total = 0
    for p in range(2, n):
        for q in range(2, p):
            if p % q == 0:
                break
        else:
            total += 1
    return total
"""

_SIEVE = """
def sieve(n):
    marks = [1] * (n + 1)
    primes = []
    for i in range(2, n + 1):
        if marks[i]:
            primes.append(i)
            for j in range(i * i, n + 1, i):
                marks[j] = 0
    return primes
----
def cross_out(limit):
    left = []
    for k in range(2, limit + 1):
        left.append(k)
    at = 0
    while at < len(left):
        p = left[at]
        rest = []
        for k in left:
            if k == p or k % p != 0:
                rest.append(k)
        left = rest
        at += 1
    return left
----
def primes_up_to(top):
    crossed = set()
    found = []
    number = 2
    while number <= top:
        if number not in crossed:
            found.append(number)
            multiple = number + number
            while multiple <= top:
                crossed.add(multiple)
                multiple += number
        number += 1
    return found
----
def eratosthenes(n):
    out = [False] * (n + 1)
    p = 2
    while p * p <= n:
        if not out[p]:
            m = p * p
            while m <= n:
                out[m] = True
                m = m + p
        p = p + 1
    result = []
    for i in range(2, n + 1):
        if not out[i]:
            result.append(i)
    return result
"""

_RUN_LENGTH = """
def run_length(text):
    out = ""
    i = 0
    while i < len(text):
        n = 1
        while i + n < len(text) and text[i + n] == text[i]:
            n += 1
        out += text[i] + str(n)
        i += n
    return out
----
def encode(word):
    result = ""
    last = ""
    count = 0
    for letter in word:
        if letter == last:
            count = count + 1
        else:
            if count > 0:
                result = result + last + str(count)
            last = letter
            count = 1
    if count > 0:
        result = result + last + str(count)
    return result
----
def compress(s):
    parts = []
    for c in s:
        if parts and parts[-1][0] == c:
            parts[-1][1] += 1
        else:
            parts.append([c, 1])
    line = ""
    for c, k in parts:
        line += f"{c}{k}"
    return line
----
def shorten(letters):
    if letters == "":
        return ""
    first = letters[0]
    rest = letters.lstrip(first)
    number = len(letters) - len(rest)
    return first + str(number) + shorten(rest)
"""

_TABLE_SUM = """
def table_sum(rows, columns):
    total = 0
    for i in range(rows):
        for j in range(columns):
            total = (total + i * j) % 1000
    return total
----
def grid(height, width):
    result = 0
    y = 0
    while y < height:
        x = 0
        while x < width:
            result += x * y
            result %= 1000
            x += 1
        y += 1
    return result
----
def row_sum(start, row, width):
    for k in range(width):
        start = (start + row * k) % 1000
    return start


def sum_rows(n, m):
    value = 0
    for row in range(n):
        value = row_sum(value, row, m)
    return value
----
def products(a, b):
    s = 0
    for cell in range(a * b):
        p = cell // b
        q = cell % b
        s = s + p * q
        if s >= 1000:
            s = s % 1000
    return s
"""

_MATRIX_POWER = """
def matrix_power(a, n):
    result = [[1, 0], [0, 1]]
    for _ in range(n):
        product = [[0, 0], [0, 0]]
        for i in range(2):
            for j in range(2):
                for k in range(2):
                    product[i][j] = (product[i][j] + result[i][k] * a[k][j]) % 10
        result = product
    return result
----
def multiply(p, q):
    out = []
    for row in p:
        line = []
        for j in range(2):
            line.append((row[0] * q[0][j] + row[1] * q[1][j]) % 10)
        out.append(line)
    return out


def power(m, times):
    out = [[1, 0], [0, 1]]
    while times > 0:
        out = multiply(out, m)
        times -= 1
    return out
----
def raise_to(base, exponent):
    w, x, y, z = 1, 0, 0, 1
    e = 0
    while e < exponent:
        s = (w * base[0][0] + x * base[1][0]) % 10
        t = (w * base[0][1] + x * base[1][1]) % 10
        u = (y * base[0][0] + z * base[1][0]) % 10
        v = (y * base[0][1] + z * base[1][1]) % 10
        w, x, y, z = s, t, u, v
        e += 1
    return [[w, x], [y, z]]
----
def apply(grid, row):
    left = row[0] * grid[0][0] + row[1] * grid[1][0]
    right = row[0] * grid[0][1] + row[1] * grid[1][1]
    return [left % 10, right % 10]


def repeated(grid, count):
    first = [1, 0]
    second = [0, 1]
    for _ in range(count):
        first = apply(grid, first)
        second = apply(grid, second)
    return [first, second]
"""

_HANOI = """
def move(n, source, target, spare):
    if n == 0:
        return 0
    count = move(n - 1, source, spare, target)
    target.append(source.pop())
    return count + 1 + move(n - 1, spare, target, source)


def hanoi(n):
    a = list(range(n, 0, -1))
    b = []
    c = []
    move(n, a, c, b)
    return c
----
def shift(pegs, disks, start, end):
    if disks > 0:
        other = 3 - start - end
        shift(pegs, disks - 1, start, other)
        pegs[end].append(pegs[start].pop())
        shift(pegs, disks - 1, other, end)


def towers(height):
    pegs = [[], [], []]
    for size in range(height, 0, -1):
        pegs[0].append(size)
    shift(pegs, height, 0, 2)
    return pegs[2]
----
def solve(disks):
    left = []
    middle = []
    right = []
    k = disks
    while k >= 1:
        left.append(k)
        k -= 1
    todo = [(disks, left, right, middle)]
    while todo:
        n, source, target, spare = todo.pop()
        if n == 1:
            target.append(source.pop())
        elif n > 1:
            todo.append((n - 1, spare, target, source))
            todo.append((1, source, target, spare))
            todo.append((n - 1, source, spare, target))
    return right
----
def legal(pegs, i, j):
    if not pegs[j] or (pegs[i] and pegs[i][-1] < pegs[j][-1]):
        pegs[j].append(pegs[i].pop())
    else:
        pegs[i].append(pegs[j].pop())


def play(n):
    pegs = [list(range(n, 0, -1)), [], []]
    turn = 0
    while len(pegs[2]) < n:
        if turn % 3 == 2:
            legal(pegs, 1, 2)
        elif (turn % 3 == 0) == (n % 2 == 1):
            legal(pegs, 0, 2)
        else:
            legal(pegs, 0, 1)
        turn += 1
    return pegs[2]
"""

_ACKERMANN = """
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))
----
def ack(a, b):
    stack = [a]
    while stack:
        top = stack.pop()
        if top == 0:
            b += 1
        elif b == 0:
            stack.append(top - 1)
            b = 1
        else:
            stack.append(top - 1)
            stack.append(top)
            b -= 1
    return b
----
def deep(x, y):
    if x > 0:
        if y > 0:
            inner = deep(x, y - 1)
        else:
            inner = 1
        result = deep(x - 1, inner)
    else:
        result = y + 1
    return result
----
def climb(k, n):
    while k > 0:
        if n == 0:
            n = 1
        else:
            n = climb(k, n - 1)
        k -= 1
    return n + 1
"""

_GENERATOR = """
def lcg(x, n):
    for _ in range(n):
        x = (x * 5 + 3) % 64
    return x
----
def random_number(state, count):
    while count > 0:
        state = 5 * state + 3
        state = state % 64
        count -= 1
    return state
----
def advance(seed):
    return (5 * seed + 3) % 64


def nth_random(seed, n):
    i = 0
    while i < n:
        seed = advance(seed)
        i += 1
    return seed
----
def draw(value, times):
    step = 0
    while step != times:
        value *= 5
        value += 3
        while value >= 64:
            value -= 64
        step += 1
    return value
"""

_AUTOMATON = """
def rule_110(cells, steps):
    n = len(cells)
    for _ in range(steps):
        new = []
        for i in range(n):
            number = 4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % n]
            new.append(110 >> number & 1)
        cells = new
    return cells
----
def evolve(row, times):
    while times > 0:
        following = []
        for k in range(len(row)):
            left = row[k - 1]
            right = row[k + 1] if k + 1 < len(row) else row[0]
            if row[k] == 1:
                following.append(1 - left * right)
            else:
                following.append(right)
        row = following
        times -= 1
    return row
----
def new_cell(left, here, right):
    if here == 0:
        return right
    if left == 1 and right == 1:
        return 0
    return 1


def automaton(tape, generations):
    width = len(tape)
    g = 0
    while g < generations:
        tape = [new_cell(tape[p - 1], tape[p], tape[(p + 1) % width]) for p in range(width)]
        g += 1
    return tape
----
def simulate(line, t):
    while t:
        first = line[0]
        before = line[-1]
        for j in range(len(line)):
            here = line[j]
            after = line[j + 1] if j < len(line) - 1 else first
            if here == 0:
                line[j] = after
            elif before == 1 and after == 1:
                line[j] = 0
            before = here
        t = t - 1
    return line
"""

_DIGIT_SUMS = """
def digit_sums(n):
    total = 0
    for k in range(n + 1):
        rest = k
        while rest > 0:
            total = (total + rest % 10) % 1000
            rest //= 10
    return total
----
def digit_sum(number):
    result = 0
    while number:
        result += number % 10
        number = number // 10
    return result


def sum_up(limit):
    total = 0
    i = 0
    while i <= limit:
        total = (total + digit_sum(i)) % 1000
        i += 1
    return total
----
def all_digits(top):
    value = 0
    for number in range(1, top + 1):
        for digit in str(number):
            value += int(digit)
            value %= 1000
    return value
----
def checksum(m):
    s = 0
    while m > 0:
        text = str(m)
        for c in text:
            s = s + int(c)
        s = s % 1000
        m -= 1
    return s
"""

_JOSEPHUS = """
def josephus(n, k):
    people = list(range(1, n + 1))
    while len(people) > 1:
        for _ in range(k - 1):
            people.append(people.pop(0))
        people.pop(0)
    return people[0]
----
def survivor(count, step):
    circle = []
    for number in range(count):
        circle.append(number + 1)
    at = 0
    while len(circle) > 1:
        at = (at + step - 1) % len(circle)
        del circle[at]
    return circle[0]
----
def last_one(size, skip):
    ring = [i + 1 for i in range(size)]
    left = skip
    while len(ring) != 1:
        first = ring[0]
        ring = ring[1:]
        left -= 1
        if left == 0:
            left = skip
        else:
            ring = ring + [first]
    return ring[0]
----
def winner(n, k):
    place = 0
    size = 1
    while size < n:
        size += 1
        place = (place + k) % size
    return place + 1
"""

_BRACKETS = """
def balanced(text):
    stack = []
    for c in text:
        if c in "([":
            stack.append(c)
        elif not stack:
            return False
        elif stack.pop() + c not in ("()", "[]"):
            return False
    return not stack
----
def matches(line):
    closing = {"(": ")", "[": "]"}
    wanted = []
    i = 0
    while i < len(line):
        letter = line[i]
        if letter in closing:
            wanted.append(closing[letter])
        else:
            if len(wanted) == 0 or wanted[-1] != letter:
                return False
            wanted.pop()
        i += 1
    return len(wanted) == 0
----
def reduce_pairs(word):
    while True:
        shorter = word.replace("()", "")
        shorter = shorter.replace("[]", "")
        if shorter == word:
            break
        word = shorter
    return word == ""
----
def check(s):
    open_ones = ""
    for at in range(len(s)):
        if s[at] == "(":
            open_ones = open_ones + ")"
        elif s[at] == "[":
            open_ones = open_ones + "]"
        elif open_ones != "" and open_ones[-1] == s[at]:
            open_ones = open_ones[:-1]
        else:
            return False
    return open_ones == ""
"""


def _texts(joined: str) -> Sequence[str]:
    return tuple(dedent(text).strip("\n") + "\n" for text in joined.split("----"))


TEXTS: Mapping[str, Sequence[str]] = {
    "ackermann": _texts(_ACKERMANN),
    "automaton": _texts(_AUTOMATON),
    "binary_counter": _texts(_BINARY_COUNTER),
    "brackets": _texts(_BRACKETS),
    "bubble_sort": _texts(_BUBBLE_SORT),
    "collatz": _texts(_COLLATZ),
    "collatz_longest": _texts(_COLLATZ_LONGEST),
    "coprime_pairs": _texts(_COPRIME_PAIRS),
    "digit_sums": _texts(_DIGIT_SUMS),
    "fibonacci": _texts(_FIBONACCI),
    "fibonacci_calls": _texts(_FIBONACCI_CALLS),
    "gcd": _texts(_GCD),
    "gcd_by_subtraction": _texts(_GCD_BY_SUBTRACTION),
    "hanoi": _texts(_HANOI),
    "insertion_sort": _texts(_INSERTION_SORT),
    "josephus": _texts(_JOSEPHUS),
    "matrix_power": _texts(_MATRIX_POWER),
    "odometer": _texts(_ODOMETER),
    "primes": _texts(_PRIMES),
    "random_numbers": _texts(_GENERATOR),
    "run_length": _texts(_RUN_LENGTH),
    "selection_sort": _texts(_SELECTION_SORT),
    "sieve": _texts(_SIEVE),
    "stack_machine": _texts(_STACK_MACHINE),
    "string_rewriting": _texts(_STRING_REWRITING),
    "table_sum": _texts(_TABLE_SUM),
}
