import GatewayKit
import SwiftProtobuf
import TestSupport
import Testing
import Vitals

@testable import ESPHome

/// Decisions without a proxy: who has it, and which one connects.
@Suite struct DecisionTests {
    @Test func `a proxy that answers its subscriber is served on, however silent it is`() {
        var watch = SubscriptionWatch(version: "2026.8.1")
        #expect(watch.next(at: .zero) == (.subscribe, SubscriptionWatch.grace))
        let isNew = watch.proved(at: .seconds(1), byProbe: true)
        #expect(isNew && watch.isSubscribed)
        #expect(watch.next(at: .seconds(20)) == (.none, .seconds(21)))
        #expect(watch.next(at: .seconds(21)) == (.probe, .seconds(26)))
        watch.pingAnswered()
        let again = watch.proved(at: .seconds(22), byProbe: true)
        #expect(!again)
        #expect(watch.next(at: .seconds(30)) == (.none, .seconds(42)))
    }

    @Test func `a proxy that answers pings and nothing else is taken, and one that answers nothing is not`() {
        var watch = SubscriptionWatch(version: "2026.7.0")
        _ = watch.next(at: .zero)
        _ = watch.proved(at: .zero, byProbe: true)
        #expect(watch.next(at: .seconds(20)) == (.probe, .seconds(25)))
        // Its Wi-Fi may be gone.
        #expect(watch.next(at: .seconds(60)) == (.none, .seconds(61)))
        watch.pingAnswered()
        #expect(watch.next(at: .seconds(61)).0 == .taken)
        // What comes now was under way.
        let late = watch.proved(at: .seconds(62))
        #expect(!late)
        #expect(watch.next(at: .seconds(63)).0 == .taken)
    }

    @Test func `a proxy that never answered a question is not doubted for its silence`() {
        var watch = SubscriptionWatch(version: "2026.7.0")
        _ = watch.next(at: .zero)
        _ = watch.proved(at: .zero)
        _ = watch.next(at: .seconds(20))
        watch.pingAnswered()
        #expect(watch.next(at: .seconds(25)) == (.none, .seconds(45)))
    }

    @Test func `an old proxy that ignores the gateway is asked again with growing waits`() {
        var watch = SubscriptionWatch(version: "2026.6.5")
        var (now, waits) = (Duration.zero, [Duration]())
        for _ in 0..<4 {
            #expect(watch.next(at: now).0 == .subscribe)
            watch.pingAnswered()
            now += SubscriptionWatch.grace
            let (action, until) = watch.next(at: now)
            #expect(action == .ignored)
            waits.append(until - now)
            now = until
        }
        #expect(waits == SubscriptionWatch.waits + [.seconds(60)])
        let isNew = watch.proved(at: now)
        #expect(isNew && watch.isSubscribed)
    }

    @Test(arguments: [
        ("2026.6.5", false), ("2026.7.0", true), ("2027.1.0-dev", true), ("2025.12.1", false), ("", false),
    ])
    func `the version says who wins`(version: String, newestWins: Bool) {
        #expect(SubscriptionWatch(version: version).newestWins == newestWins)
    }

    @Test func `the best signal connects, and a small difference changes nothing`() {
        func best(_ a: ProxyChoice.Candidate, _ b: ProxyChoice.Candidate) -> Int? { ProxyChoice.best([a, b]) }
        #expect(best(.init(proxy: 0, strength: -70), .init(proxy: 1, strength: -60)) == 1)
        #expect(best(.init(proxy: 0, strength: -67, isLast: true), .init(proxy: 1, strength: -60)) == 0)
        #expect(best(.init(proxy: 0, strength: -69, isLast: true), .init(proxy: 1, strength: -60)) == 1)
        #expect(best(.init(proxy: 0, strength: -60, isFull: true), .init(proxy: 1, strength: -90)) == 1)
        #expect(best(.init(proxy: 0, strength: -60, hasFailed: true), .init(proxy: 1, strength: -75)) == 1)
        #expect(ProxyChoice.best([]) == nil)
    }

    @Test func `a device with too many or impossible services is refused`() {
        var known = KnownServices()
        let many = APIServices.with {
            $0.services = [
                APIService.with {
                    $0.shortUuid = 0x180d
                    $0.characteristics = (0..<KnownServices.mostCharacteristics).map { row in
                        APICharacteristic.with { ($0.shortUuid, $0.handle) = (0x2a37, UInt32(row)) }
                    }
                }
            ]
        }
        let isTaken = known.add(many)
        #expect(!isTaken)
        var other = KnownServices()
        let isOther = other.add(APIServices.with { $0.services = [APIService.with { $0.uuid = [1] }] })
        #expect(!isOther)
    }
}
