import Concurrency
import GatewayKit
import Logging
import Vitals

/// The proxies, and what the gateway's devices want of them. Its parts belong to it, and are distinguished by file: sessions with
/// proxies, what they hear, reach, links, requests.
actor ProxyRadio {
    nonisolated let options: ESPHomeOptions
    nonisolated let clock: GatewayClock
    nonisolated let logger: Logger

    /// The proxies that may be used, in the order of the configuration.
    let proxies: [Proxy]
    /// The links, by the device's address.
    var traffic: [UInt64: LinkTraffic] = [:]
    /// The devices that the gateway has tried to connect lately.
    var expected: [DeviceID: ExpectedDevice] = [:]
    /// The scans of people, by number.
    var scans: [Int: ProxyScan] = [:]
    private var scanNumber = 0
    /// Wakes `endTurns`.
    let change = Signal()

    init(_ options: ESPHomeOptions, clock: GatewayClock, logger: Logger) {
        (self.options, self.clock, self.logger) = (options, clock, logger)
        proxies = options.proxies.map { Proxy($0, turn: options.turn) }
    }

    /// The numbers of the proxies that may be used.
    private nonisolated var exclusive: [Int] { options.proxies.indices.filter { options.proxies[$0].isExclusive } }

    /// Keeps the exclusive proxies connected, and serves devices until `body` returns.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        for proxy in options.proxies where !proxy.isExclusive {
            logger.notice("A proxy is not used, since it is not exclusive.", metadata: ["proxy": "\(proxy.endpoint)"])
        }
        let exclusive = exclusive
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in exclusive { group.addTask { await self.keepConnected(number) } }
            group.addTask { await self.endTurns() }
            group.addTask {
                try await body()
                throw Ended()
            }
            defer { group.cancelAll() }
            do { while try await group.next() != nil {} } catch is Ended {}
        }
    }

    private struct Ended: Error {}

    /// Why no device can be connected; `nil` if one can, or it is not known yet.
    var trouble: LinkError? {
        let used = exclusive.map { proxies[$0] }
        guard !used.isEmpty else {
            return options.proxies.isEmpty
                ? LinkError(
                    .unreachable, "No proxy is configured. Name one under plugins: {esphome: {proxies: [{host: …}]}}.")
                : options.proxies.first?.error(Self.notExclusive)
        }
        let troubles = used.map(\.trouble)
        return troubles.contains(nil) ? nil : troubles.compactMap(\.self).first
    }

    private func trouble(of number: Int) -> LinkError? { proxies[number].trouble }

    static let notExclusive =
        "a proxy serves one client at a time, and another one, such as Home Assistant, would hear nothing more. If it is the gateway's "
        + "own, write exclusive: true."

    /// The state of a proxy has changed: checks who waits.
    func settle() {
        let trouble = trouble
        if let trouble { for device in expected.values { device.fail(trouble) } }
        if proxies.contains(where: \.isServing) {
            for scan in scans.values { scan.began.fulfil(.success(())) }
        } else if let trouble {
            for scan in scans.values { scan.began.fulfil(.failure(trouble)) }
        }
        change.wake()
    }

    /// Ends the links whose turn is over, until the task is cancelled.
    private func endTurns() async {
        while !Task.isCancelled {
            var next: Duration?
            for (number, proxy) in proxies.enumerated() {
                let overdue = proxy.turns.overdue(at: clock.uptime)
                for link in traffic.values.map(\.link)
                where link.proxy == number && overdue.contains(link.holder) {
                    end(link, LinkError(.ended, "The device's turn is over; another one has the link now."))
                }
                if let end = proxy.turns.nextEnd, end > clock.uptime { next = min(next ?? end, end) }
            }
            guard let next else {
                await change.wait()
                continue
            }
            await clock.withTimeout(max(.zero, next - clock.uptime)) { [change] in await change.wait() }
        }
    }

    // MARK: - For people

    /// Returns what the proxies hear within `duration` from the moment when the first one listens.
    func nearby(for duration: Duration) async throws(LinkError) -> [NearbyDevice] {
        let scan = ProxyScan()
        scanNumber += 1
        let number = scanNumber
        scans[number] = scan
        defer { scans[number] = nil }
        settle()
        let began = scan.began
        let result = await clock.withTimeout(ProxyScan.startTime) { try? await began.wait() }
        guard case .some(let start) = result else {
            throw LinkError(.timeout, "No proxy answers. Check that they are on, and in this network.")
        }
        try start?.get()
        do { try await clock.sleep(for: duration) } catch { throw LinkError(.cancelled, "The scan was cancelled.") }
        return scan.heard.map { address, heard in
            var device = NearbyDevice(
                bluetooth: BluetoothAddress.text(address), isRandom: heard.isRandom, name: heard.content.name,
                services: heard.content.services, signalStrength: heard.strength, isConnected: traffic[address] != nil)
            device.device = expected.filter { $0.value.target.matches(address, heard.content) }.keys.min()
            return device
        }
    }

    /// What is found of each proxy, without a subscription.
    nonisolated func findings() async -> [Finding] {
        await withTaskGroup(of: (Int, Finding).self) { group in
            for (number, proxy) in options.proxies.enumerated() {
                group.addTask { (number, await self.finding(number, proxy)) }
            }
            var found: [(Int, Finding)] = []
            for await finding in group { found.append(finding) }
            return found.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// How long a check of a proxy may take.
    static let checkTime: Duration = .seconds(8)

    private nonisolated func finding(_ number: Int, _ proxy: ProxyOptions) async -> Finding {
        let result = await clock.withTimeout(Self.checkTime) { () async -> LinkError? in
            do { try await self.session(number, isCheck: true) } catch { return self.failure(error, of: number) }
            return await self.trouble(of: number)
        }
        let subject = "esphome"
        switch result {
        case nil:
            return Finding(.problem, subject, "\(proxy.error("it does not answer. Is it on, and in this network?"))")
        case .some(let error?): return Finding(.problem, subject, "\(error)")
        case .some(nil) where !proxy.isExclusive: return Finding(.warning, subject, "\(proxy.error(Self.notExclusive))")
        case .some(nil): return Finding(.fine, subject, "The proxy \(proxy.endpoint) answers, and can connect devices.")
        }
    }
}

/// A scan for people. It belongs to the radio.
final class ProxyScan {
    /// The most devices that a scan keeps. In a crowd each telephone changes its address now and then.
    static let capacity = 1_024
    /// How long the proxies may take to begin.
    static let startTime: Duration = .seconds(15)

    struct Heard {
        var content: Advertisement
        var strength: Int
        var isRandom: Bool
    }

    /// A proxy listens, or none can.
    let began = Promise<Result<Void, LinkError>>()
    /// What was heard, by address, with the strongest signal.
    private(set) var heard: [UInt64: Heard] = [:]

    /// A device was heard.
    func add(_ address: UInt64, _ content: Advertisement, strength: Int, isRandom: Bool) {
        guard var known = heard[address] else {
            if heard.count < Self.capacity {
                heard[address] = Heard(content: content, strength: strength, isRandom: isRandom)
            }
            return
        }
        known.content.add(content)
        known.strength = max(known.strength, strength)
        heard[address] = known
    }
}
