"""A task that does what its arguments say.

`plan` has a step for each zarr_url, "*" for all others, "init" for init phases. A step may have: output (written as
JSON), raw (written as it is), print, exit, signal, sleep, wait_for (a file), stubborn (does not end when asked to),
spawn (seconds that a child lives), daemon (seconds that a grandchild in a session of its own lives), touch (a file),
environ (prints the environment), long_log (bytes), allocate (megabytes of memory), python (runs it). Each start is
recorded in the file `starts`, one line a start; with `ends`, each end in that file.
"""

import json
import os
import signal
import subprocess
import sys
import time

BEGAN = time.time()

given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
with open(given["--args-json"]) as file:
    args = json.load(file)
url = args.get("zarr_url")
if "starts" in args:
    start = {"task": args.get("task"), "url": url, "pid": os.getpid(), "time": time.time(), "args": args}
    line = json.dumps({**start, "out": given["--out-json"]}) + "\n"
    file = os.open(args["starts"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, line.encode())
    os.close(file)
plan = args.get("plan") or {}
if url is None and "init" in plan:
    step = plan["init"]
else:
    step = plan.get(url, plan.get("*", {}))
text = json.dumps(step).replace("{url}", url or "")
step = json.loads(text)
if step.get("stubborn"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "print" in step:
    print(step["print"], flush=True)
if "print_hex" in step:
    sys.stdout.buffer.write(bytes.fromhex(step["print_hex"]))
    sys.stdout.flush()
if "spawn" in step:
    child = subprocess.Popen(["sleep", str(step["spawn"])], start_new_session=step.get("new_session", False))
    print("child", child.pid, flush=True)
if "daemon" in step:
    # the parent between the two is gone at once, so that nothing leads from the task to the grandchild
    command = f"setsid sleep {step['daemon']} >/dev/null 2>&1 & echo grandchild $!"
    print(subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True).stdout, flush=True)
if step.get("environ"):
    print(json.dumps({"environ": dict(os.environ), "cwd": os.getcwd()}), flush=True)
if "long_log" in step:
    line = b"0123456789abcde\n" * 65536
    for _ in range(step["long_log"] // len(line)):
        sys.stdout.buffer.write(line)
    sys.stdout.flush()
if "allocate" in step:
    # written to, or it would be no memory
    kept = bytearray(step["allocate"] * 2**20)
    for place in range(0, len(kept), 4096):
        kept[place] = 1
if "python" in step:
    exec(step["python"])
if "touch" in step:
    open(step["touch"], "w").close()
if "wait_for" in step:
    # not for ever: a test that failed creates no files any more
    while not os.path.exists(step["wait_for"]) and time.time() < BEGAN + 120:
        time.sleep(0.02)
time.sleep(step.get("sleep", 0))
if step.get("raise"):
    raise ValueError(step["raise"])
if "link" in step:
    os.makedirs(os.path.dirname(step["link"][0]), exist_ok=True)
    os.symlink(step["link"][1], step["link"][0])
if "raw_hex" in step:
    with open(given["--out-json"], "wb") as file:
        file.write(bytes.fromhex(step["raw_hex"]))
elif "raw" in step:
    with open(given["--out-json"], "w") as file:
        file.write(step["raw"])
elif "output" in step:
    with open(given["--out-json"], "w") as file:
        json.dump(step["output"], file)
if "ends" in args:
    with open(args["ends"], "a") as file:
        file.write(json.dumps({"task": args.get("task"), "url": url, "start": BEGAN, "end": time.time()}) + "\n")
if "signal" in step:
    os.kill(os.getpid(), step["signal"])
sys.exit(step.get("exit", 0))
