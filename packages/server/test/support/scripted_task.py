"""A task that does what its arguments say: `plan` has a step for each zarr_url, "*" for all others, "init" for init phases.

A step may have: output (written as JSON), raw (written as it is), print, exit, signal, sleep, wait_for (a file), spawn
(seconds that a child lives), touch (a file). Each start is recorded in the file `starts`, one line a start.
"""
import json, os, signal, subprocess, sys, time

given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
with open(given["--args-json"]) as file:
    args = json.load(file)
url = args.get("zarr_url")
if "starts" in args:
    with open(args["starts"], "a") as file:
        file.write(json.dumps({"task": args.get("task"), "url": url, "pid": os.getpid(), "args": args}) + "\n")
plan = args.get("plan") or {}
if url is None and "init" in plan:
    step = plan["init"]
else:
    step = plan.get(url, plan.get("*", {}))
text = json.dumps(step).replace("{url}", url or "")
step = json.loads(text)
if "print" in step:
    print(step["print"], flush=True)
if "print_hex" in step:
    sys.stdout.buffer.write(bytes.fromhex(step["print_hex"]))
    sys.stdout.flush()
if "spawn" in step:
    child = subprocess.Popen(["sleep", str(step["spawn"])], start_new_session=step.get("new_session", False))
    print("child", child.pid, flush=True)
if "touch" in step:
    open(step["touch"], "w").close()
if "wait_for" in step:
    while not os.path.exists(step["wait_for"]):
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
if "signal" in step:
    os.kill(os.getpid(), step["signal"])
sys.exit(step.get("exit", 0))
