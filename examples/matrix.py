"""Matrices as lists of rows: product, transpose, powers, and the determinant, exact in whole numbers."""

Matrix = list[list[int]]


def transpose(a: Matrix) -> Matrix:
    """Rows become columns.

    >>> transpose([[1, 2, 3], [4, 5, 6]])
    [[1, 4], [2, 5], [3, 6]]
    """
    return [list(column) for column in zip(*a, strict=True)]


def multiply(a: Matrix, b: Matrix) -> Matrix:
    """The product of an n x k and a k x m matrix, n x m.

    >>> multiply([[1, 2], [3, 4]], [[5], [6]])
    [[17], [39]]
    """
    if len(a[0]) != len(b):
        raise ValueError(f"{len(a[0])} columns cannot meet {len(b)} rows")
    columns = transpose(b)
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a]


def power(a: Matrix, exponent: int) -> Matrix:
    """A square matrix multiplied by itself, in as many steps as the exponent has bits.

    >>> power([[1, 1], [1, 0]], 10)  # Fibonacci's numbers
    [[89, 55], [55, 34]]
    """
    result = [[int(i == j) for j in range(len(a))] for i in range(len(a))]
    while exponent:
        if exponent % 2:
            result = multiply(result, a)
        a = multiply(a, a)
        exponent //= 2
    return result


def determinant(a: Matrix) -> int:
    """The determinant of a square matrix, by Bareiss's elimination: every division comes out even.

    >>> determinant([[2, 0, 1], [1, 3, 2], [1, 1, 4]])
    18
    >>> determinant([[0, 1], [1, 0]])
    -1
    >>> determinant([[1, 2], [2, 4]])
    0
    """
    a = [row[:] for row in a]
    sign, previous = 1, 1
    for k in range(len(a) - 1):
        pivot = next((i for i in range(k, len(a)) if a[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            a[k], a[pivot] = a[pivot], a[k]
            sign = -sign
        for i in range(k + 1, len(a)):
            for j in range(k + 1, len(a)):
                a[i][j] = (a[i][j] * a[k][k] - a[i][k] * a[k][j]) // previous
        previous = a[k][k]
    return sign * a[-1][-1]


if __name__ == "__main__":
    print(power([[1, 1], [1, 0]], 30)[0][1], determinant([[3, 1, 2], [0, 0, 5], [7, 8, 9]]))
