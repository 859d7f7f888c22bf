import Concurrency
import GatewayKit
import Listening
import Logging
import NIOCore
import NIOPosix
import SwiftProtobuf
import Vitals

/// Connections to proxies: the greeting, the subscription, signs of life.
extension ProxyRadio {
    /// How long connecting to a proxy may take, and each of its first answers.
    static let connectTime: Duration = .seconds(10)
    /// The distance of the pings, as that of ESPHome's own client.
    static let pingInterval: Duration = .seconds(20)
    /// The silence after which a connection is given up, as ESPHome's own client does: Wi-Fi may be away for a minute.
    static let longestSilence: Duration = .seconds(90)
    /// The waits before a proxy is connected again: it restarts in some seconds.
    static let firstWait: Duration = .seconds(1)
    /// The longest of these waits, which double.
    static let longestWait: Duration = .minutes(1)
    /// The version of the API that is spoken: 1.14 of ESPHome 2026.
    static let version: (major: UInt32, minor: UInt32) = (1, 14)
    /// An address that no device has. A proxy answers a read of it, and only to its subscriber, that it is not connected.
    static let probeAddress: UInt64 = 1

    /// Connects a proxy again and again, until the task is cancelled or another client has taken it.
    func keepConnected(_ number: Int) async {
        let proxy = proxies[number]
        var waits = BackOff(first: Self.firstWait, longest: Self.longestWait)
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled {
            let error: LinkError
            do {
                try await session(number)
                error = proxy.options.error("the connection ended.", .broken)
            } catch let reason { error = failure(reason, of: number) }
            guard !Task.isCancelled else { return }
            if proxy.isServing { waits.reset() }
            lose(number, error)
            if proxy.isTaken { return }
            do { try await clock.sleep(for: waits.next(using: &generator)) } catch { return }
        }
    }

    /// The error of a session.
    nonisolated func failure(_ error: any Error, of number: Int) -> LinkError {
        let proxy = options.proxies[number]
        switch error {
        case let error as LinkError: return error
        case let error as WireError: return proxy.error(error.description)
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            return proxy.error(
                "nothing listens there. Is it on, and does its configuration have api: and bluetooth_proxy:?")
        case is NIOConnectionError:
            return proxy.error("it cannot be reached. Is it on, and is its name or address right?")
        case let error as ChannelError:
            if case .connectTimeout = error { return proxy.error("it does not answer. Is it on?", .timeout) }
            return proxy.error("the connection broke. It is made again.", .broken)
        default: return proxy.error("the connection broke: \(error). It is made again.", .broken)
        }
    }

    /// The connection to a proxy is over, with all links through it.
    private func lose(_ number: Int, _ error: LinkError) {
        let proxy = proxies[number]
        if proxy.notices.isDue(error.message, at: clock.uptime) {
            logger.warning("A proxy cannot be used.", metadata: ["error": "\(error)"])
        }
        (proxy.state, proxy.connection, proxy.free, proxy.leaving) = (.unusable(error), nil, nil, [])
        for link in traffic.values.map(\.link) where link.proxy == number {
            end(link, LinkError(.broken, error.message))
        }
        for device in expected.values { device.sightings[number] = nil }
        proxy.change.wake()
        settle()
    }

    /// Talks with a proxy until the connection ends, or only until it has said what it is.
    nonisolated func session(_ number: Int, isCheck: Bool = false) async throws {
        let proxy = options.proxies[number]
        let channel = try await connect(proxy)
        // An asynchronous channel must be used: one that is only dropped traps.
        let stream = try await channel.eventLoop.submit {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }.get()
        try await stream.executeThenClose { inbound, _ in
            try await channel.setOption(.autoRead, value: true).get()
            try await self.begin(number, channel)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await buffer in inbound { try await self.receive(buffer, from: number) }
                    throw proxy.error("it closed the connection. It is made again.", .broken)
                }
                group.addTask { try await self.talk(number, isCheck: isCheck) }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private nonisolated func connect(_ proxy: ProxyOptions) async throws -> any Channel {
        let group = ESPHomeService.eventLoops
        let bootstrap = ClientBootstrap(group: group)
            .connectTimeout(.nanoseconds(Self.connectTime.inMilliseconds * 1_000_000))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.autoRead, value: false)
        let connecting =
            (try? SocketAddress(ipAddress: proxy.host, port: proxy.port))
            .map { bootstrap.connect(to: $0) } ?? bootstrap.connect(host: proxy.host, port: proxy.port)
        // A cancelled task does not wait for the connection; one that comes afterwards is closed.
        let outcome = group.next().makePromise(of: (any Channel).self)
        connecting.whenComplete { result in
            outcome.completeWith(result)
            if case .success(let channel) = result {
                outcome.futureResult.whenFailure { _ in channel.close(promise: nil) }
            }
        }
        return try await withTaskCancellationHandler {
            try await outcome.futureResult.get()
        } onCancel: {
            outcome.fail(CancellationError())
        }
    }

    private func begin(_ number: Int, _ channel: any Channel) throws {
        let proxy = proxies[number]
        let codec = try FrameCodec(proxy.options.key.map { NoiseHandshake(key: $0) })
        let connection = ProxyConnection(channel, codec, at: clock.uptime)
        proxy.connection = connection
        if !codec.opening.isEmpty { channel.writeAndFlush(ByteBuffer(bytes: codec.opening), promise: nil) }
    }

    /// Sends a message. One that cannot be sent is missed by whoever waits for its answer.
    func send(_ type: MessageType, _ message: (any Message)? = nil, to number: Int) {
        guard let connection = proxies[number].connection else { return }
        do throws(WireError) {
            let bytes = try connection.codec.encode(Packet(type, message))
            connection.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        } catch { logger.error("A message cannot be sent to a proxy.", metadata: ["error": "\(error)"]) }
    }

    // MARK: - The talk

    private func talk(_ number: Int, isCheck: Bool) async throws {
        guard let connection = proxies[number].connection else { return }
        let watch = try await greet(number, connection)
        if isCheck {
            proxies[number].state = .serving
            return send(.disconnectRequest, to: number)
        }
        send(.subscribeConnections, to: number)
        connection.watch = watch
        try await watchOver(number, connection)
    }

    /// Says hello, and asks what the proxy is.
    private func greet(_ number: Int, _ connection: ProxyConnection) async throws -> SubscriptionWatch {
        let proxy = proxies[number]
        try await wait(for: connection.isReady, of: proxy)
        try checkName(connection.codec.name, of: proxy.options)
        let hello: APIHelloResponse = try await ask(
            .helloRequest,
            APIHelloRequest.with {
                ($0.clientInfo, $0.apiVersionMajor, $0.apiVersionMinor) = (
                    "vitals2mqtt", Self.version.major, Self.version.minor
                )
            }, for: .helloResponse, of: number)
        guard hello.apiVersionMajor == Self.version.major else {
            throw proxy.options.error(
                "it speaks version \(hello.apiVersionMajor) of ESPHome's API, and the gateway version \(Self.version.major). Update the older one."
            )
        }
        try checkName(hello.name, of: proxy.options)
        // Later ones have no passwords, and do not answer.
        if hello.apiVersionMinor < Self.version.minor { send(.authenticationRequest, to: number) }
        let info: APIDeviceInfo = try await ask(.deviceInfoRequest, nil, for: .deviceInfo, of: number)
        try checkName(info.name, of: proxy.options)
        proxy.features = ProxyFeatures(rawValue: info.features)
        guard !proxy.features.isEmpty || info.legacyProxy > 0 else {
            throw proxy.options.error("it is no Bluetooth proxy. Add bluetooth_proxy: to its configuration.")
        }
        guard proxy.features.contains(.rawAdvertisements) else {
            throw proxy.options.error("its ESPHome \(info.version) is too old. Update it to 2023.6 or later.")
        }
        return SubscriptionWatch(version: info.version)
    }

    private nonisolated func checkName(_ name: String?, of proxy: ProxyOptions) throws(LinkError) {
        guard let wanted = proxy.name, let name, !name.isEmpty, name != wanted else { return }
        throw proxy.error("its name is \(name.prefix(64)), and not \(wanted). Correct host: or name:.")
    }

    private func ask<Answer: Message>(
        _ type: MessageType, _ message: (any Message)?, for answer: MessageType, of number: Int
    ) async throws -> Answer {
        guard let connection = proxies[number].connection else { throw CancellationError() }
        let promise = Promise<Packet>()
        connection.answers[answer] = promise
        send(type, message, to: number)
        return try await wait(for: promise, of: proxies[number]).decoded()
    }

    @discardableResult
    private func wait<Value: Sendable>(for promise: Promise<Value>, of proxy: Proxy) async throws -> Value {
        let error = proxy.options.error("it does not answer. Is it an ESPHome device?", .timeout)
        let result = await clock.withTimeout(Self.connectTime) { try? await promise.wait() }
        guard let value = result else { throw error }
        guard let value else { throw CancellationError() }
        return value
    }

    /// Sends pings, and watches whether the proxy serves this connection.
    private func watchOver(_ number: Int, _ connection: ProxyConnection) async throws {
        let proxy = proxies[number]
        var nextPing = clock.uptime
        while true {
            let now = clock.uptime
            guard now - connection.lastReceived < Self.longestSilence else {
                throw proxy.options.error("it has been silent for too long. Check its power and its Wi-Fi.", .timeout)
            }
            if now >= nextPing {
                send(.pingRequest, to: number)
                nextPing = now + Self.pingInterval
            }
            guard let (action, time) = connection.watch?.next(at: now) else { return }
            switch action {
            case .none: break
            case .subscribe:
                send(.subscribeAdvertisements, APIAdvertisementRequest.with { $0.flags = 1 }, to: number)
                probe(number)
            case .probe: probe(number)
            case .ignored:
                let error = proxy.options.error(
                    "another client, such as Home Assistant, has it; a proxy serves one at a time. Remove it there. The gateway tries again."
                )
                if proxy.notices.isDue(error.message, at: now) {
                    logger.warning("A proxy ignores the gateway.", metadata: ["error": "\(error)"])
                }
                proxy.state = .unusable(error)
                settle()
            case .taken:
                proxy.isTaken = true
                // They would keep their connections.
                for link in traffic.values.map(\.link) where link.proxy == number {
                    disconnect(link.address, from: number)
                }
                throw proxy.options.error(
                    "another client, such as Home Assistant, has taken it; a proxy serves one at a time. Remove it there, then restart the "
                        + "gateway.")
            }
            let next = min(nextPing, time, connection.lastReceived + Self.longestSilence)
            try await clock.sleep(for: max(next - clock.uptime, .milliseconds(1)))
        }
    }

    private func probe(_ number: Int) {
        send(.readRequest, APIAttribute.with { $0.address = Self.probeAddress }, to: number)
        send(.pingRequest, to: number)
    }

    // MARK: - What comes

    private func receive(_ buffer: ByteBuffer, from number: Int) throws {
        guard let connection = proxies[number].connection else { return }
        connection.lastReceived = clock.uptime
        let packets = try connection.codec.receive(buffer.readableBytesView)
        if connection.codec.isReady { connection.isReady.fulfil(()) }
        for packet in packets { try receive(packet, from: number, connection) }
    }

    private func receive(_ packet: Packet, from number: Int, _ connection: ProxyConnection) throws {
        guard let type = packet.type else { return }
        switch type {
        case .pingRequest: send(.pingResponse, to: number)
        case .pingResponse: connection.watch?.pingAnswered()
        case .disconnectRequest:
            send(.disconnectResponse, to: number)
            throw proxies[number].options.error("it ends the connection, as for a restart. It is made again.", .broken)
        case .helloResponse, .deviceInfo: connection.answers.removeValue(forKey: type)?.fulfil(packet)
        case .authenticationResponse:
            guard try packet.decoded(APIAuthenticationResponse.self).invalidPassword else { return }
            throw proxies[number].options.error(
                "it wants a password. Replace api: password: by encryption: in its configuration.")
        case .scannerState: proved(number, connection)
        case .advertisements:
            proved(number, connection)
            for item in try packet.decoded(APIAdvertisements.self).items { hear(item, by: number) }
        case .connections:
            let connections: APIConnections = try packet.decoded()
            connection.allocated = connections.allocated
            update(number, free: Int(connections.free), limit: Int(connections.limit))
        case .attributeError:
            let error: APIAttributeError = try packet.decoded()
            if error.address == Self.probeAddress { return proved(number, connection, byProbe: true) }
            failed(error, from: number)
        default: try receive(packet, type, ofDeviceFrom: number)
        }
    }

    /// What only a subscriber gets has come.
    private func proved(_ number: Int, _ connection: ProxyConnection, byProbe: Bool = false) {
        guard connection.watch?.proved(at: clock.uptime, byProbe: byProbe) == true else { return }
        let proxy = proxies[number]
        (proxy.state, proxy.notices) = (.serving, RepeatedNotice())
        logger.info("A proxy is connected.", metadata: ["proxy": "\(proxy.options.endpoint)"])
        // Those of a connection that broke, which the proxy may not have noticed.
        for address in connection.allocated where address != 0 && traffic[address]?.link.proxy != number {
            disconnect(address, from: number)
        }
        settle()
    }

    private func update(_ number: Int, free: Int, limit: Int) {
        let proxy = proxies[number]
        proxy.free = free
        if limit > 0 { proxy.turns.limit = limit }
        proxy.change.wake()
    }
}
