import GatewayKit
import GatewayTesting
import TestSupport
import Testing
import Vitals

@testable import BlueZ

/// Decisions without a bus: turns, scans, errors.
@Suite struct DecisionTests {
    @Test func `links are given in the order in which they were asked for`() {
        var turns = LinkTurns(limit: 2, turn: .seconds(60))
        let asked = ["a", "b", "c", "d"].map { turns.request($0) }
        #expect(asked == [true, true, false, false])
        turns.begin("a", at: .zero)
        turns.begin("b", at: .seconds(10))
        #expect(turns.overdue(at: .seconds(59)).isEmpty)
        #expect(turns.nextEnd == .seconds(60))
        // Two wait, and only one has had its turn.
        #expect(turns.overdue(at: .seconds(60)) == ["a"])
        #expect(turns.overdue(at: .seconds(70)) == ["a", "b"])
        let granted = [turns.release("b"), turns.release("a")]
        #expect(granted == [["c"], ["d"]])
        #expect(turns.nextEnd == nil)
        #expect(turns.overdue(at: .seconds(1000)).isEmpty)
    }

    @Test func `whoever is being connected has no turn that could end`() {
        var turns = LinkTurns(limit: 2, turn: .seconds(60))
        let asked = ["a", "b", "c"].map { turns.request($0) }
        #expect(asked == [true, true, false])
        #expect(turns.nextEnd == nil)
        #expect(turns.overdue(at: .seconds(1000)).isEmpty)
        turns.begin("b", at: .seconds(90))
        turns.begin("a", at: .seconds(100))
        // It has a link no more.
        turns.begin("z", at: .zero)
        #expect(turns.nextEnd == .seconds(150))
        #expect(turns.overdue(at: .seconds(1000)) == ["b"])
    }

    @Test func `whoever no longer waits gets no link, and a newcomer does not overtake`() {
        var turns = LinkTurns(limit: 1, turn: .seconds(60))
        let asked = ["a", "b", "c"].map { turns.request($0) }
        #expect(asked == [true, false, false])
        let granted = [turns.release("b"), turns.release("a")]
        #expect(granted == [[], ["c"]])
        let again = turns.request("a")
        #expect(!again)
    }

    private static func situation(
        isWanted: Bool = true, isPowered: Bool = true, isDiscovering: Bool = true, hasLinks: Bool = false
    ) -> ScanWatch.Situation {
        ScanWatch.Situation(
            isWanted: isWanted, isPowered: isPowered, isDiscovering: isDiscovering, hasLinks: hasLinks)
    }

    @Test func `a scan that could not be ended is ended later, unless it is wanted again`() {
        var watch = ScanWatch(silence: .minutes(10))
        var generator = SplitMix64(seed: 1)
        watch.started(at: .zero)
        watch.markSeen(at: .seconds(1))
        let idle = Self.situation(isWanted: false)
        #expect(watch.next(idle, at: .seconds(1)) == (.stop, nil))
        watch.stopFailed(at: .seconds(1), using: &generator)
        guard case (.none, let again?) = watch.next(idle, at: .seconds(1)) else {
            Issue.record("it is not tried again")
            return
        }
        #expect(again <= .seconds(1) + ScanWatch.longestWait)
        #expect(watch.next(idle, at: again) == (.stop, nil))
        #expect(watch.next(Self.situation(), at: again) == (.none, .minutes(10) + .seconds(1)))
        watch.stopped()
        #expect(watch.next(idle, at: again) == (.none, nil))
    }

    @Test func `a scan runs as long as a device is waited for, and restarts when it is silent`() {
        var watch = ScanWatch(silence: .minutes(10))
        #expect(watch.next(Self.situation(isWanted: false), at: .zero) == (.none, nil))
        #expect(watch.next(Self.situation(isPowered: false), at: .zero) == (.none, nil))
        #expect(watch.next(Self.situation(isDiscovering: false), at: .zero) == (.start, nil))
        watch.started(at: .zero)
        #expect(watch.next(Self.situation(isDiscovering: false), at: .seconds(9)) == (.none, .seconds(10)))
        #expect(watch.next(Self.situation(isDiscovering: false), at: .seconds(10)) == (.restart, nil))
        #expect(watch.next(Self.situation(), at: .seconds(10)) == (.none, .minutes(10)))
        watch.markSeen(at: .minutes(1))
        #expect(watch.next(Self.situation(), at: .minutes(10)) == (.none, .minutes(11)))
        #expect(watch.next(Self.situation(), at: .minutes(11)) == (.restart, nil))
        watch.restarted(at: .minutes(11))
        // Links would be lost when the adapter is switched off.
        #expect(watch.next(Self.situation(hasLinks: true), at: .minutes(21)) == (.restart, nil))
        #expect(watch.next(Self.situation(), at: .minutes(21)) == (.powerCycle, nil))
        watch.markSeen(at: .minutes(21))
        #expect(watch.next(Self.situation(), at: .minutes(31)) == (.restart, nil))
        #expect(watch.next(Self.situation(isWanted: false), at: .minutes(31)) == (.stop, nil))
    }

    @Test func `a scan that cannot be started is tried again after waits that grow`() {
        var watch = ScanWatch(silence: .minutes(10))
        var random = SplitMix64(seed: 1)
        var now = Duration.zero
        for failure in 1...20 {
            watch.failed(at: now, using: &random)
            let (action, time) = watch.next(Self.situation(), at: now)
            #expect(action == .none)
            guard let time else { return }
            #expect(time - now <= ScanWatch.longestWait)
            now = time
            // Every third time the adapter is switched off and on, unless that ends links.
            #expect(watch.next(Self.situation(hasLinks: true), at: now) == (.start, nil))
            let isDue = failure.isMultiple(of: ScanWatch.failuresBeforePowerCycle)
            #expect(watch.next(Self.situation(), at: now) == (isDue ? .powerCycle : .start, nil))
            if isDue { watch.powerCycled() }
        }
        #expect(now > ScanWatch.longestWait * 5)
    }

    @Test func `an adapter that does not begin to scan restarts, and is switched off and on after waits that grow`() {
        var watch = ScanWatch(silence: .hours(24))
        var now = Duration.zero
        let stuck = Self.situation(isDiscovering: false)
        watch.started(at: now)
        var wait = ScanWatch.startTime
        for action in [ScanWatch.Action.restart] + Array(repeating: .powerCycle, count: 8) {
            let time = now + wait
            #expect(watch.next(stuck, at: now) == (.none, time))
            #expect(watch.next(stuck, at: time - .seconds(1)) == (.none, time))
            #expect(watch.next(stuck, at: time) == (action, nil))
            // Links would be lost.
            #expect(watch.next(Self.situation(isDiscovering: false, hasLinks: true), at: time) == (.restart, nil))
            watch.restarted(at: time)
            now = time
            wait = min(wait * 2, ScanWatch.longestStartTime)
        }
        #expect(wait == ScanWatch.longestStartTime)
    }

    @Test func `every error of the table says what it means`() {
        for row in ErrorTable.rows {
            let name = row.name.contains(".") ? row.name : "org.bluez.Error." + row.name
            let error = LinkError(of: .reply(name: name, message: row.text), "No connection")
            #expect(error == LinkError(row.code, "No connection: \(row.meaning)"), "\(row.name) \(row.text)")
            #expect(row.meaning.hasSuffix("."))
        }
        // The texts of a failed Low Energy connection, of src/error.h in BlueZ 5.66, with that of later releases for a lost key.
        for text in [
            "invalid-arguments", "adapter-not-powered", "not-supported", "already-connected", "bad-socket",
            "memory-allocation", "busy", "refused", "create-socket", "timeout", "concurrent-connection-limit",
            "abort-by-remote", "abort-by-local", "link-layer-protocol-error", "gatt-browsing", "unknown", "key-missing",
        ] {
            let row = ErrorTable.row("org.bluez.Error.Failed", "le-connection-" + text)
            #expect(row.map { ("le-connection-" + text).contains($0.text) && !$0.text.isEmpty } == true, "\(text)")
        }
        let unknown = LinkError(of: .reply(name: "org.bluez.Error.New", message: "Strange"), "No connection")
        #expect(unknown.message.contains("Strange (org.bluez.Error.New)"))
        #expect(LinkError(of: .timeout, "x").code == .timeout)
        #expect(LinkError(of: .cancelled, "x").code == .cancelled)
        #expect(LinkError(of: .closed("y"), "x").code == .broken)
        #expect(LinkError(of: .invalid("y."), "x").message == "x: y.")
    }
}

extension DecisionTests {
    @Test func `the tree of objects has a limit, and keeps what it knows`() {
        var tree = ObjectTree()
        let device = BusValue.dictionary(
            key: "s", value: "a{sv}", [.init(key: .string(BlueZ.device), value: .options(["RSSI": .int16(-60)]))])
        for number in 0...ObjectTree.capacity { tree.add("/\(number)", device) }
        #expect(tree.paths(with: BlueZ.device).count == ObjectTree.capacity)
        #expect(tree["/\(ObjectTree.capacity)", BlueZ.device] == nil)
        tree.change("/0", BlueZ.device, ["RSSI": .int16(-70)], without: [])
        #expect(tree["/0", BlueZ.device]?["RSSI"]?.number == -70)
        tree.change("/0", BlueZ.device, [:], without: ["RSSI"])
        #expect(tree["/0", BlueZ.device]?.isEmpty == true)
        tree.remove("/0", [BlueZ.device])
        tree.add("/new", device)
        #expect(tree["/new", BlueZ.device] != nil)
    }
}
