"""Finds functions that keep the address of a thread's own variable over a wait, in the code of a program for x86-64.

    objdump -d --no-show-raw-insn PROGRAM | thread_addresses.py

A Mutex compares the thread that unlocks it with the thread that locked it, and reads its number from a variable of the thread. The
optimiser may take that variable's address once for two locks in one async function, and keep it in the function's frame while
it waits. If the function goes on upon another thread, it reads the number of the first one: the program ends with "Call to unlock
Mutex on a thread which hasn't acquired the lock". So no such address may be stored anywhere but on the stack, which does not
outlive a wait. Decision 165 says what to do where one is found.
"""
import re
import sys

WHOLE = r"%r(?:[abcd]x|[sd]i|bp|\d+)"
ANY = r"%(?:r(?:[abcd]x|[sd]i|bp|\d+[dwb]?)|e(?:[abcd]x|[sd]i|bp)|[abcd][xlh]|[sd]il?|bpl?)"
LOAD = re.compile(rf"(?:data16 )*mov\s+%fs:0x0,({WHOLE})$")
ADDRESS = re.compile(rf"lea\s+[-0-9a-fx]*\(({WHOLE})\),({WHOLE})$")
COPY = re.compile(rf"mov\s+({WHOLE}),({WHOLE})$")
STORE = re.compile(rf"mov\s+({WHOLE}),[-0-9a-fx]*\((%r\w+)\)$")
OFFSET = re.compile(rf"(?:add|sub)\s+\$[-0-9a-fx]+,({WHOLE})$")
WRITE = re.compile(rf"\S+\s+(?:.*,)?({ANY})$")
STACK = ("%rbp", "%rsp")
# What a call may change.
SCRATCH = ("%rax", "%rcx", "%rdx", "%rsi", "%rdi", "%r8", "%r9", "%r10", "%r11")
# Functions of libraries that do so, but are not called: modules, as they begin a mangled name.
UNUSED = ("$s13Configuration23MutableInMemoryProvider",)


def whole(register: str) -> str:
    """The 64-bit register that a register is a part of."""
    name = register[1:]
    if numbered := re.match(r"r\d+", name):
        return "%" + numbered[0]
    name = name.lstrip("re")
    letters = {"a": "ax", "b": "bx", "c": "cx", "d": "dx"}
    if name in ("di", "dil", "si", "sil", "bp", "bpl"):
        return "%r" + name[:2]
    return "%r" + letters.get(name[0], name)


def findings(lines) -> list[tuple[str, str]]:
    """The functions that store such an address outside the stack, each with the first instruction that does."""
    found, function, addresses = {}, "?", set()
    for line in lines:
        if title := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function, addresses = title[1], set()
            continue
        _, colon, instruction = line.rstrip().partition(":\t")
        if not colon:
            continue
        if load := LOAD.match(instruction):
            addresses.add(load[1])
        elif not addresses or instruction.startswith(("cmp", "test")):
            continue
        elif move := ADDRESS.match(instruction) or COPY.match(instruction):
            (addresses.add if move[1] in addresses else addresses.discard)(move[2])
        elif store := STORE.match(instruction):
            if store[1] in addresses and store[2] not in STACK:
                found.setdefault(function, line.strip())
        elif instruction.startswith("call"):
            addresses.difference_update(SCRATCH)
        elif instruction.startswith(("ret", "jmp")):
            addresses = set()
        elif (write := WRITE.match(instruction)) and not OFFSET.match(instruction):
            addresses.discard(whole(write[1]))
    return [entry for entry in found.items() if not entry[0].startswith(UNUSED)]


def examine_itself() -> None:
    """Fails if the search misses what the optimiser made of two locks around a wait, or finds what is harmless."""
    def code(*instructions: str) -> list[str]:
        return ["00000010 <f>:", *(f"  10:\t{instruction}" for instruction in instructions)]
    kept = code("data16 data16 data16 mov %fs:0x0,%rax", "lea    -0x110(%rax),%rbx", "mov    %rbx,%rcx",
                "call   20 <g>", "mov    %rbx,0x100(%r12)")
    overwritten = code("mov    %fs:0x0,%rax", "lea    -0x110(%rax),%rbx", "xor    %eax,%eax", "mov    %rax,0x40(%r14)",
                       "mov    %rbx,-0x30(%rbp)")
    if [name for name, _ in findings(kept)] != ["f"] or findings(overwritten):
        sys.exit("The search itself is wrong.")


examine_itself()
functions = 0


def counted(lines):
    """Passes lines on, and counts the functions among them."""
    global functions
    for line in lines:
        functions += line.endswith(">:\n")
        yield line


found = findings(counted(sys.stdin))
if functions < 1000:
    sys.exit(f"Only {functions} functions were read; the code of a whole program is wanted.")
for name, instruction in found:
    print(f"{name}\n    {instruction}", file=sys.stderr)
if found:
    sys.exit(f"{len(found)} functions keep the address of a thread's own variable. Decision 165 says what to do.")
print(f"None of {functions} functions keeps the address of a thread's own variable over a wait.")
