def digit_sums(n):
    total = 0
    for k in range(n + 1):
        rest = k
        while rest > 0:
            total = (total + rest % 10) % 1000
            rest //= 10
    return total


# ----
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


# ----
def all_digits(top):
    value = 0
    for number in range(1, top + 1):
        for digit in str(number):
            value += int(digit)
            value %= 1000
    return value


# ----
def checksum(m):
    s = 0
    while m > 0:
        text = str(m)
        for c in text:
            s = s + int(c)
        s = s % 1000
        m -= 1
    return s
