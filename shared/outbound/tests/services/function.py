# Answers what it got, or fails where it is told to.
def handler(event, context):
    if event.get("fail"):
        raise RuntimeError("told to fail")
    return {"got": event}
