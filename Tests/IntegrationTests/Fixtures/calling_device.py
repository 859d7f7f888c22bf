"""Calls the gateway, and then is the program of the other arguments: calling_device.py PORT DEVICE TOKEN PROGRAM…"""

import json
import os
import socket
import sys

port, device, token = sys.argv[1:4]
connection = socket.create_connection(("127.0.0.1", int(port)))
connection.sendall(json.dumps({"device": device, "token": token}).encode() + b"\n")
os.dup2(connection.fileno(), 0)
os.dup2(connection.fileno(), 1)
os.execvp(sys.argv[4], sys.argv[4:])
