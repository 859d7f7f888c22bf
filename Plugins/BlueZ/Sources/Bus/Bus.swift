import CSDBus
import Concurrency
import Glibc

/// A connection to D-Bus. It belongs to the thread of its loop: an actor with this loop as executor opens it, and all closures
/// given to it are called there.
final class Bus {
    /// The result of a call.
    typealias Result = Swift.Result<[BusValue], BusError>

    /// What has happened or is asked for: a signal, or a call of a method.
    struct Message {
        var sender: String
        var path: String
        var interface: String
        var member: String
        var arguments: [BusValue]
        let message: BusMessage

        fileprivate init?(_ pointer: OpaquePointer?) {
            guard let pointer else { return nil }
            message = BusMessage(pointer)
            (sender, path, interface, member) = (message.sender, message.path, message.interface, message.member)
            guard let arguments = try? message.values() else { return nil }
            self.arguments = arguments
        }
    }

    /// The end of the connection, with its reason.
    let closed = Promise<String>()
    private let loop: BusLoop
    private var pointer: OpaquePointer?
    private var handlers: [Handler] = []
    private var calls: [ObjectIdentifier: Call] = [:]

    /// Opens a connection to the bus at an address, or to the system bus (`DBUS_SYSTEM_BUS_ADDRESS`, or its usual socket).
    init(address: String?, loop: BusLoop) throws(BusError) {
        self.loop = loop
        var bus: OpaquePointer?
        if let address {
            try BusError.check(sd_bus_new(&bus), "No connection to D-Bus")
            pointer = bus
            try BusError.check(sd_bus_set_address(bus, address), "The address \(address) is none of D-Bus")
            try BusError.check(sd_bus_set_bus_client(bus, 1), "No connection to D-Bus")
            try BusError.check(sd_bus_start(bus), "No connection to D-Bus at \(address)")
        } else {
            try BusError.check(sd_bus_open_system(&bus), "No connection to the system bus")
            pointer = bus
        }
        loop.attach(self)
    }

    deinit { sd_bus_close_unref(pointer) }

    /// Closes the connection. Calls that wait fail.
    func close(_ reason: String = "it was closed by the gateway") {
        loop.detach(self)
        handlers = []
        closed.fulfil(reason)
        let waiting = calls.values
        calls = [:]
        for call in waiting { call.complete(.failure(.closed(reason))) }
        sd_bus_flush(pointer)
        sd_bus_close(pointer)
    }

    // MARK: - Calls

    /// Calls a method, and calls `completion` with its answer, in the order in which messages arrive. The call is forgotten with the
    /// object that is returned.
    func send(
        to destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue],
        timeout: Duration, _ completion: @escaping (Result) -> Void
    ) throws(BusError) -> Call {
        var raw: OpaquePointer?
        let made = sd_bus_message_new_method_call(pointer, &raw, destination, path, interface, member)
        try BusError.check(made, "\(member) cannot be called")
        guard let raw else { throw .invalid("\(member) cannot be called.") }
        let message = BusMessage(owning: raw)
        try message.append(arguments)
        let call = Call(completion)
        let sent = sd_bus_call_async(
            pointer, &call.slot, message.pointer,
            { message, context, _ in
                guard let context, let message else { return 0 }
                Unmanaged<Call>.fromOpaque(context).takeUnretainedValue().answered(message)
                return 1
            }, Unmanaged.passUnretained(call).toOpaque(), UInt64(max(1, timeout / .microseconds(1))))
        try BusError.check(sent, "\(member) cannot be called")
        calls[ObjectIdentifier(call)] = call
        call.forget = { [weak self, id = ObjectIdentifier(call)] in self?.calls[id] = nil }
        return call
    }

    /// Calls a method, and waits for its answer.
    /// - Parameter isCleanUp: waits even if the task is cancelled, which only the time limit ends.
    func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        timeout: Duration = .seconds(25), isCleanUp: Bool = false
    ) async throws(BusError) -> [BusValue] {
        let answer = Promise<Result>()
        let call = try send(to: destination, path, interface, member, arguments, timeout: timeout) {
            answer.fulfil($0)
        }
        defer { call.cancel() }
        if isCleanUp { return try await answer.waitUncancelled().get() }
        let result: Result
        do { result = try await answer.wait() } catch { throw .cancelled }
        return try result.get()
    }

    // MARK: - Signals and objects

    /// Calls a closure for each signal that matches a rule (D-Bus Specification, "Match Rules").
    func match(_ rule: String, _ handler: @escaping (Message) -> Void) throws(BusError) {
        let handler = Handler(handler)
        let result = sd_bus_add_match_async(
            pointer, &handler.slot, "type='signal',\(rule)",
            { message, context, _ in
                guard let context, let message = Message(message) else { return 0 }
                Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue().action(message)
                return 0
            }, nil, Unmanaged.passUnretained(handler).toOpaque())
        try BusError.check(result, "The signals \(rule) cannot be received")
        handlers.append(handler)
    }

    /// Calls a closure for each call of a method of an object at or below a path. It answers with `reply`, now or later.
    func export(below path: String, _ handler: @escaping (Message) -> Void) throws(BusError) {
        let handler = Handler(handler)
        let result = sd_bus_add_fallback(
            pointer, &handler.slot, path,
            { message, context, _ in
                guard let context, let message = Message(message) else { return 0 }
                Unmanaged<Handler>.fromOpaque(context).takeUnretainedValue().action(message)
                return 1
            }, Unmanaged.passUnretained(handler).toOpaque())
        try BusError.check(result, "The object \(path) cannot be offered")
        handlers.append(handler)
    }

    /// Answers a call of a method.
    func reply(to call: Message, _ result: Result) throws(BusError) {
        var raw: OpaquePointer?
        switch result {
        case .success:
            try BusError.check(sd_bus_message_new_method_return(call.message.pointer, &raw), "No answer can be made")
        case .failure(let failure):
            var error = sd_bus_error()
            if case .reply(let name, let text) = failure {
                sd_bus_error_set(&error, name, text)
            } else {
                sd_bus_error_set(&error, "org.freedesktop.DBus.Error.Failed", failure.description)
            }
            defer { sd_bus_error_free(&error) }
            let made = sd_bus_message_new_method_error(call.message.pointer, &raw, &error)
            try BusError.check(made, "No answer can be made")
        }
        guard let raw else { return }
        let message = BusMessage(owning: raw)
        if case .success(let values) = result { try message.append(values) }
        try BusError.check(sd_bus_send(pointer, message.pointer, nil), "The answer cannot be sent")
    }

    /// Sends a signal.
    func emit(_ path: String, _ interface: String, _ member: String, _ values: [BusValue]) throws(BusError) {
        var raw: OpaquePointer?
        try BusError.check(
            sd_bus_message_new_signal(pointer, &raw, path, interface, member), "\(member) cannot be sent")
        guard let raw else { return }
        let message = BusMessage(owning: raw)
        try message.append(values)
        try BusError.check(sd_bus_send(pointer, message.pointer, nil), "\(member) cannot be sent")
    }
}

extension Bus {
    /// Works off messages that arrived and time limits. Returns whether there were any. Called by the loop.
    func process(atMost limit: Int) -> Bool {
        for count in 0..<limit {
            let result = sd_bus_process(pointer, nil)
            guard result >= 0 else {
                close(String(cString: strerror(-result)))
                return true
            }
            if result == 0 { return count > 0 }
        }
        return true
    }

    /// What the loop has to wait for: the socket, and the time until the next limit.
    func waitsFor() -> (pollfd, Duration?) {
        let events = Int16(truncatingIfNeeded: sd_bus_get_events(pointer))
        var limit: UInt64 = .max
        sd_bus_get_timeout(pointer, &limit)
        let descriptor = pollfd(fd: sd_bus_get_fd(pointer), events: max(0, events), revents: 0)
        guard limit != .max else { return (descriptor, nil) }
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let passed = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000
        return (descriptor, .microseconds(max(0, Int64(clamping: limit) - passed)))
    }
}
