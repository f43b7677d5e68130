import pandas as pd, io

text = "day,temp\n2024-01-01,3.5\n2024-01-02,\n"
df = pd.read_csv(io.StringIO(text), parse_dates=["day"])
print(df.isna().sum().to_dict(), str(df.day.iloc[0]))
df.fillna(0).to_csv("out.csv", index=False)
print(open("out.csv").read())
