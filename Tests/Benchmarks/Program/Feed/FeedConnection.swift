import Glibc

/// One connection between the gateway and a device of the feeder: a blocking thread that writes and reads.
struct FeedConnection {
    /// Samples rendered at once in flood mode: about 40 KB, less than the socket takes.
    private static let burst = 256
    /// How long an idle device waits before it checks the plan again, in microseconds.
    private static let tick: Int64 = 10_000

    let socket: Int32
    let plan: FeedPlan
    let tally: DeviceTally
    let index: Int
    var stock: SampleStock
    var output: [UInt8] = []
    var input: [UInt8] = []
    var isReady = false
    var isEnding = false
    private var written = 0
    private var mode = FeedPlan.Mode.idle
    private var generation = -1
    private var nextDue: Int64 = 0

    init(socket: Int32, plan: FeedPlan, tally: DeviceTally, index: Int, stock: SampleStock) {
        self.socket = socket
        self.plan = plan
        self.tally = tally
        self.index = index
        self.stock = stock
    }

    /// Serves until the gateway closes the connection.
    mutating func serve() {
        tally.update { $0.isConnected = true }
        while !(isEnding && written == output.count) {
            waitForEvents()
            if isReady { produce() }
            guard write(), waitAndRead() else { break }
        }
        tally.update {
            $0.isConnected = false
            $0.isQuiet = true
        }
    }

    /// Sends the unanswered samples again, now that the device is connected.
    mutating func begin() {
        isReady = true
        stock.renderUnanswered(of: plan, to: &output)
    }

    private mutating func waitForEvents() {
        let current = plan.current
        if current.generation != generation {
            generation = current.generation
            mode = current.mode
            if case .pace(let rate, _) = mode {
                // The devices take turns, so that their sum is even, too.
                let interval = 1_000_000 / rate
                nextDue = current.began + Int64(interval * Double(index) / Double(plan.deviceCount))
            }
        }
        let (isQuiet, generation) = (written == output.count, generation)
        tally.update {
            $0.isQuiet = isQuiet
            $0.generation = generation
        }
    }

    private mutating func produce() {
        switch mode {
        case .idle: break
        case .flood:
            guard written == output.count else { return }
            stock.renderFlood(Self.burst, of: plan, to: &output)
            let flooded = stock.flooded
            tally.update { $0.flooded = flooded }
        case .pace(let rate, let asRequests):
            let interval = Int64(1_000_000 / rate)
            let now = Instant.steady
            // Samples missed during a pause of the connection are not made up for: they do not exist.
            if now - nextDue > 1_000_000 { nextDue = now }
            while nextDue <= now {
                let key = stock.renderNow(of: plan, asRequest: asRequests, to: &output)
                tally.update { $0.paced.append(key) }
                nextDue += interval
            }
        }
    }

    /// Writes as much as the socket takes; `false` if the connection is gone.
    private mutating func write() -> Bool {
        while written < output.count {
            let (offset, count) = (written, output.count - written)
            let sent = output.withUnsafeBytes { bytes in
                send(
                    socket, bytes.baseAddress?.advanced(by: offset), count,
                    Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            guard sent > 0 else { return errno == EAGAIN || errno == EINTR }
            written += sent
        }
        output.removeAll(keepingCapacity: true)
        written = 0
        return true
    }

    /// Waits for input, and reads it; `false` if the connection is gone.
    private mutating func waitAndRead() -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if written < output.count || (isReady && mode == .flood) { descriptor.events |= Int16(POLLOUT) }
        var pause = Self.tick
        if case .pace = mode, isReady { pause = max(0, min(pause, nextDue - Instant.steady)) }
        // Rounded up to whole milliseconds: a sample may be sent slightly late, but it contains its time.
        guard poll(&descriptor, 1, Int32((pause + 999) / 1000)) >= 0 || errno == EINTR else { return false }
        guard descriptor.revents & ~Int16(POLLOUT) != 0 else { return true }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        input.append(contentsOf: buffer[..<count])
        return takeLines()
    }

    private mutating func takeLines() -> Bool {
        var begin = 0
        while let end = input[begin...].firstIndex(of: UInt8(ascii: "\n")) {
            guard handle(Array(input[begin..<end])) else { return false }
            begin = end + 1
        }
        input.removeFirst(begin)
        return true
    }
}
