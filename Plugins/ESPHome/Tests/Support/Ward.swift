import Concurrency
import GatewayKit
import Logging
import NIOCore
import NIOPosix
import TestSupport
import Testing
import Vitals

@testable import ESPHome

/// A gateway's proxies, each a fake one on a port of its own.
struct Ward: Sendable {
    static let timeout: Duration = .seconds(20)
    static let strap: UInt64 = 0xa4c1_3800_1122

    let proxies: [FakeProxy]
    let radio: ProxyRadio
    let log: LogRecorder
    /// What the gateway is told to connect.
    let options: ESPHomeOptions

    var proxy: FakeProxy { proxies[0] }

    static func target(
        _ address: UInt64 = strap, mode: BluetoothTarget.Mode = .persistent, isPaired: Bool = false,
        connectTimeout: Duration = .seconds(10)
    ) throws -> ProxyTarget {
        var target = try #require(Self.target(["address": BluetoothAddress.text(address)]))
        (target.device.mode, target.device.connectTimeout, target.isPaired) = (mode, connectTimeout, isPaired)
        return target
    }

    /// A target of these keys; `nil` if they are wrong.
    static func target(_ pairs: [String: String]) -> ProxyTarget? {
        var reader = reader(pairs)
        let target = ProxyTarget(&reader)
        return reader.finish().isEmpty ? target : nil
    }

    static func reader(_ pairs: [String: String]) -> ConfigurationReader {
        let map = pairs.sorted { $0.key < $1.key }.map {
            (ConfigurationKey($0.key), ConfigurationValue(.scalar($0.value, isQuoted: false)))
        }
        return ConfigurationReader(ConfigurationValue(.map(map)))
    }

    /// Runs `body` with a link to a device.
    func link(
        _ id: String = "strap", _ target: ProxyTarget? = nil, presence: DevicePresence = DevicePresence(),
        _ body: @escaping @Sendable (ProxyLink) async throws -> Void
    ) async throws {
        let target = try target ?? Self.target()
        try await radio.withLink(try #require(DeviceID(id)), target, presence: presence, body)
    }

    /// Runs `body` with a link that is waited for at most `timeout`.
    func whileLinked(
        _ target: ProxyTarget? = nil, _ body: @escaping @Sendable (ProxyLink) async throws -> Void
    ) async throws {
        try await withRealDeadline(Self.timeout) {
            try await self.link("strap", target, body)
        } orThrow: {
            DeadlinePassed(limit: Self.timeout, last: self.log.entries.map { "\($0)" })
        }
    }

    /// Waits until proxies were connected so many times.
    func connections(_ count: Int) async throws {
        _ = try await withRealDeadline(Self.timeout) {
            try await self.log.wait { $0.count { $0.message == "A proxy is connected." } >= count }
        } orThrow: {
            DeadlinePassed(limit: Self.timeout, last: self.log.entries.map { "\($0)" })
        }
    }

    /// The error with which a link is not opened.
    func failure(_ target: ProxyTarget? = nil) async throws -> String {
        do { try await whileLinked(target) { _ in } } catch let error as LinkError { return error.message }
        return "none"
    }
}

/// Runs `body` with proxies and the gateway's side of them.
/// - Parameter change: changes what the gateway is told about the proxies.
func withWard(
    _ setups: FakeProxy.Setup..., clock: GatewayClock = .system, isRunning: Bool = true,
    options change: @escaping @Sendable (inout ESPHomeOptions) -> Void = { _ in },
    _ body: @escaping @Sendable (Ward) async throws -> Void
) async throws {
    let proxies = (setups.isEmpty ? [FakeProxy.Setup()] : setups).map { FakeProxy($0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
        var options = ESPHomeOptions()
        for proxy in proxies {
            let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .childChannelOption(.autoRead, value: false)
                .bind(host: "127.0.0.1", port: 0) { channel in channel.eventLoop.makeSucceededFuture(channel) }
            let port = try #require(server.channel.localAddress?.port)
            options.proxies.append(ProxyOptions(host: "127.0.0.1", port: port, key: proxy.setup.key))
            group.addTask {
                try await server.executeThenClose { clients in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await client in clients { group.addTask { try? await proxy.serve(client) } }
                    }
                }
            }
            // Devices advertise again and again, by the clock of the test.
            group.addTask {
                while true {
                    try await clock.sleep(for: .milliseconds(200))
                    await proxy.advertise()
                }
            }
        }
        change(&options)
        let log = LogRecorder()
        let radio = ProxyRadio(options, clock: clock, logger: log.logger)
        let ward = Ward(proxies: proxies, radio: radio, log: log, options: options)
        if isRunning { try await radio.run { try await body(ward) } } else { try await body(ward) }
        group.cancelAll()
        while let result = await group.nextResult() { _ = result }
    }
}

/// The same with a strap that advertises at the first proxy.
func withStrap(
    _ setup: FakeProxy.Setup = FakeProxy.Setup(), clock: GatewayClock = .system,
    options change: @escaping @Sendable (inout ESPHomeOptions) -> Void = { _ in },
    _ body: @escaping @Sendable (Ward) async throws -> Void
) async throws {
    try await withWard(setup, clock: clock, options: change) { ward in
        await ward.proxy.add(Ward.strap)
        try await body(ward)
    }
}
