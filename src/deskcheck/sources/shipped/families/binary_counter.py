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


# ----
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


# ----
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


# ----
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


# ----
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
