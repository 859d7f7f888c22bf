import Concurrency
import GatewayKit
import Logging
import TestSupport
import Testing
import Vitals

@testable import ESPHome

/// Proxies: what they are, who has them, how they end and return.
@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    private static let key: [UInt8] = Array(0..<32)

    @Test(arguments: [
        (FakeProxy.Setup(key: key), Optional<[UInt8]>.none, "it wants encryption. Write key:"),
        (FakeProxy.Setup(), key, "it does not use encryption. Remove key:"),
        (FakeProxy.Setup(key: key), Array(1..<33), "the key is wrong"),
        (FakeProxy.Setup(features: 0), nil, "it is no Bluetooth proxy"),
        (FakeProxy.Setup(version: "2023.2.0", features: 0x0f), nil, "its ESPHome 2023.2.0 is too old"),
        (FakeProxy.Setup(version: "2022.11.0", features: 0, legacy: 2), nil, "its ESPHome 2022.11.0 is too old"),
        (FakeProxy.Setup(features: 0x21), nil, "it makes no connections. Write bluetooth_proxy: active: true"),
        (FakeProxy.Setup(apiMajor: 2), nil, "it speaks version 2 of ESPHome's API"),
    ]) func `a proxy that cannot be used says why`(setup: FakeProxy.Setup, key: [UInt8]?, text: String) async throws {
        try await withWard(setup, options: { $0.proxies[0].key = key }) { ward in
            let failure = try await ward.failure()
            #expect(failure.contains(text))
            let findings = await ProxyRadio(ward.options, clock: .system, logger: ward.log.logger).findings()
            #expect(findings.map(\.severity) == [.problem] && findings[0].text.contains(text))
        }
    }

    @Test func `a proxy with another name is refused, and one that is not there is named`() async throws {
        for key in [nil, Self.key] {
            try await withWard(FakeProxy.Setup(key: key), options: { $0.proxies[0].name = "kitchen" }) { ward in
                let failure = try await ward.failure()
                #expect(failure.contains("its name is bedroom, and not kitchen"))
            }
        }
        let port = try freePort()
        try await withWard(options: { $0.proxies[0].port = port }) { ward in
            let failure = try await ward.failure()
            #expect(failure.contains("nothing listens there"))
        }
    }

    @Test func `a proxy that is not exclusive is never connected to, and doctor says why without a subscription`()
        async throws
    {
        try await withStrap(options: { $0.proxies[0].isExclusive = false }) { ward in
            let failure = try await ward.failure()
            #expect(failure.contains("write exclusive: true"))
            await #expect(throws: LinkError.self) { try await ward.radio.nearby(for: .milliseconds(1)) }
            #expect(ward.proxy.calls.elements.isEmpty)
            let findings = await ProxyRadio(ward.options, clock: .system, logger: ward.log.logger).findings()
            #expect(findings.map(\.severity) == [.warning])
            #expect(findings[0].text.contains("would hear nothing more"))
            #expect(!ward.proxy.calls.elements.contains("subscribeAdvertisements"))
        }
        try await withWard(isRunning: false) { ward in
            #expect(await ward.radio.findings().map(\.severity) == [.fine])
            #expect(!ward.proxy.calls.elements.contains("subscribeAdvertisements"))
        }
    }

    @Test func `a proxy that restarts in the middle of a read ends the links, and serves again`() async throws {
        try await withStrap(FakeProxy.Setup(key: Self.key)) { ward in
            try await ward.whileLinked { link in
                let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: BluetoothUUID(0x180a)))
                try #require(await ward.proxy.peripheral(Ward.strap)).fallSilent()
                async let reading = link.read(model)
                try await ward.proxy.calls.wait(within: Ward.timeout) { $0.contains("readRequest") }
                await ward.proxy.reboot()
                do {
                    _ = try await reading
                    Issue.record("it reads from a proxy that is gone")
                } catch GATTError.link(let error) { #expect(error.code == .broken) }
                await #expect(throws: LinkError.self) { try await link.nextValue() }
            }
            try await ward.connections(2)
            try await ward.whileLinked { link in
                let rate = try #require(link.services[0].characteristics.first)
                #expect(try await link.read(rate) == [0, 60])
            }
        }
    }

    @Test func `a device that a proxy still has from a connection that broke is connected anew`() async throws {
        try await withStrap { ward in
            try await ward.whileLinked { link in
                await ward.proxy.cut()
                await #expect(throws: LinkError.self) { try await link.nextValue() }
            }
            try await ward.connections(2)
            try await ward.whileLinked { link in
                let device = try #require(await ward.proxy.peripheral(Ward.strap))
                #expect(try await device.violations(of: link) == [])
            }
        }
    }

    @Test func `the newest subscriber takes a proxy, and the gateway leaves it until it is restarted`() async throws {
        try await withStrap(clock: .scaled(by: 20)) { ward in
            try await ward.whileLinked { link in
                await ward.proxy.takeOver()
                await #expect(throws: LinkError.self) { try await link.nextValue() }
            }
            let failure = try await ward.failure()
            #expect(failure.contains("another client, such as Home Assistant, has taken it"))
            // The device is free for another proxy.
            try await ward.proxy.calls.wait(within: Ward.timeout) { $0.contains("disconnect") }
            #expect(await ward.proxy.peripheral(Ward.strap) == nil)
            await ward.proxy.leave()
            let asked = ward.proxy.calls.elements.count { $0 == "subscribeAdvertisements" }
            let again = try await ward.failure()
            #expect(again.contains("restart the gateway"))
            #expect(ward.proxy.calls.elements.count { $0 == "subscribeAdvertisements" } == asked)
            #expect(
                ward.log.entries.contains {
                    $0.level == .warning && $0.metadata["error"]?.contains("has taken it") == true
                })
        }
    }

    @Test func `an old proxy that another client has ignores the gateway, and serves it when that one has left`()
        async throws
    {
        try await withWard(FakeProxy.Setup(version: "2026.6.5"), clock: .scaled(by: 20)) { ward in
            // The gateway's own subscription ends first.
            try await ward.connections(1)
            await ward.proxy.reboot()
            await ward.proxy.takeOver()
            try await ward.log.wait { $0.contains { $0.message == "A proxy ignores the gateway." } }
            let failure = try await ward.failure()
            #expect(failure.contains("has it; a proxy serves one at a time"))
            await ward.proxy.leave()
            await ward.proxy.add(Ward.strap)
            try await ward.connections(2)
            try await ward.whileLinked { _ in }
        }
    }

    @Test func `a proxy whose network is gone is given up after a while, and serves again`() async throws {
        try await withStrap(clock: .scaled(by: 20)) { ward in
            try await ward.whileLinked { link in
                let model = try #require(link.characteristic(BluetoothUUID(0x2a24), in: BluetoothUUID(0x180a)))
                #expect(try await link.read(model) == Array("Strap 1".utf8))
                await ward.proxy.freeze(true)
                do throws(LinkError) { _ = try await link.nextValue() } catch {
                    #expect(error.message.contains("silent for too long"))
                }
                await ward.proxy.freeze(false)
                await ward.proxy.reboot()
            }
            try await ward.connections(2)
            try await ward.whileLinked { _ in }
        }
    }

    @Test func `a proxy that answers nothing is given up`() async throws {
        try await withStrap(clock: .scaled(by: 20)) { ward in
            await ward.proxy.freeze(true)
            await ward.proxy.reboot()
            try await ward.log.wait { $0.contains { $0.metadata["error"]?.contains("does not answer") == true } }
            let findings = await ProxyRadio(ward.options, clock: .scaled(by: 20), logger: ward.log.logger).findings()
            #expect(findings.map(\.severity) == [.problem] && findings[0].text.contains("does not answer"))
            let other = ProxyRadio(ward.options, clock: .scaled(by: 20), logger: ward.log.logger)
            do throws(LinkError) {
                _ = try await other.nearby(for: .seconds(1))
                Issue.record("it scans without a proxy")
            } catch { #expect(error.code == .timeout) }
        }
    }

    @Test func `the nearest proxy connects a device, and another one when it is gone`() async throws {
        try await withWard(FakeProxy.Setup(name: "near"), FakeProxy.Setup(name: "far")) { ward in
            try await ward.connections(2)
            await ward.proxies[1].add(Ward.strap, strength: -80)
            await ward.proxies[0].add(Ward.strap, strength: -50)
            try await ward.whileLinked { link in
                #expect(await link.signalStrength() == -50)
                #expect(await ward.proxies[0].peripheral(Ward.strap) != nil)
                await ward.proxies[0].remove(Ward.strap)
                await ward.proxies[0].reboot()
                await #expect(throws: LinkError.self) { try await link.nextValue() }
            }
            try await ward.whileLinked { link in
                #expect(await link.signalStrength() == -80)
                #expect(await ward.proxies[1].peripheral(Ward.strap) != nil)
            }
        }
    }

    @Test func `a scan lists what the proxies hear, once each`() async throws {
        try await withWard(FakeProxy.Setup(), FakeProxy.Setup()) { ward in
            await ward.proxies[0].add(Ward.strap, strength: -80)
            await ward.proxies[1].add(Ward.strap, strength: -50)
            // A random address that changes.
            await ward.proxies[0].add(0x3fc1_3800_1122, name: "Ring")
            let found = try await ward.radio.nearby(for: .milliseconds(500)).sorted { $0.address < $1.address }
            #expect(found.map(\.address) == ["3F:C1:38:00:11:22", "A4:C1:38:00:11:22"])
            #expect(found[1].signalStrength == -50 && found[1].name == "Strap")
            #expect(found[1].services == [BluetoothUUID(0x180d)])
            #expect(found[0].options == [NearbyDevice.Option("name", "Ring")])
        }
    }

    @Test func `a scan keeps a limited number of devices`() {
        let scan = ProxyScan()
        for address in 1...(ProxyScan.capacity + 10) {
            scan.add(UInt64(address), Advertisement([]), strength: -60, isRandom: false)
        }
        #expect(scan.heard.count == ProxyScan.capacity)
    }

    @Test func `the configuration names proxies, and refuses what cannot be`() {
        func issues(_ pairs: [String: String]) -> Int {
            var reader = Ward.reader(pairs)
            _ = ProxyOptions(&reader)
            return reader.finish().count
        }
        var reader = Ward.reader(["host": "192.0.2.17"])
        let options = ProxyOptions(&reader)
        #expect(reader.finish().isEmpty && options.port == 6053 && !options.isExclusive && options.key == nil)
        #expect(
            issues(["port": "6053"]) == 1 && issues(["host": "a", "port": "0"]) == 1
                && issues(["host": "a", "exclusive": "maybe"]) == 1)
        #expect(issues(["host": "a", "key": "AAEC"]) == 1)
        #expect(ProxyOptions(host: "fe80::1", port: 6053).endpoint == "[fe80::1]:6053")
        #expect(Ward.target(["address": "a4:c1:38:00:11:22", "pairing": "just_works"])?.isPaired == true)
        for pairing in ["ask", "passkey"] { #expect(Ward.target(["name": "Strap", "pairing": pairing]) == nil) }
        var many = ConfigurationReader(
            ConfigurationValue(
                .map([
                    (
                        ConfigurationKey("proxies"),
                        ConfigurationValue(
                            .list(
                                (0...ESPHomeOptions.mostProxies).map { number in
                                    ConfigurationValue(
                                        .map([
                                            (
                                                ConfigurationKey("host"),
                                                ConfigurationValue(.scalar("h\(number)", isQuoted: false))
                                            )
                                        ]))
                                }))
                    )
                ])))
        _ = ESPHomeOptions(&many)
        var none = Ward.reader([:])
        _ = ESPHomeOptions(&none)
        #expect(none.finish().map(\.message).first?.hasPrefix("proxies is missing") == true)
        #expect(many.finish().count == 1)
    }
}
