import datetime, zoneinfo

u = datetime.datetime(2024, 3, 10, 12, tzinfo=datetime.timezone.utc)
try:
    print(u.astimezone(zoneinfo.ZoneInfo("Europe/Berlin")).isoformat())
except zoneinfo.ZoneInfoNotFoundError as e:
    print("no zones")
print(u + datetime.timedelta(days=1), u.strftime("%A"), datetime.date(2024, 2, 29).isocalendar())
