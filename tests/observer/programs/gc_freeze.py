import gc

gc.collect()
before = gc.get_freeze_count()
gc.freeze()
print(gc.get_freeze_count() > before, gc.get_count()[0] < 30)
gc.unfreeze()
print(gc.get_freeze_count())
