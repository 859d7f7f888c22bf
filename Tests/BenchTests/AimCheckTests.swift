import Testing

@testable import vitals2mqtt_bench

/// When a run with `--check` fails.
@Suite struct AimCheckTests {
    private func rate(_ value: Double) -> Figure {
        Figure("rate", "rate", value, "samples/s", aim: .atLeast(100))
    }
    private func lost(_ value: Double) -> Figure { Figure("lost", "lost", value, "samples", aim: .atMost(0)) }

    @Test func `what is met at once needs no second attempt`() {
        var check = AimCheck()
        check.check([rate(100), lost(0), Figure("time", "time", 5, "s")])
        #expect(!check.wantsAnother && check.missed.isEmpty)
    }

    @Test func `a speed counts if one of three attempts reaches it`() {
        var check = AimCheck()
        check.check([rate(99), lost(0)])
        #expect(check.wantsAnother && check.missed.map(\.value) == [99])
        check.check([rate(101), lost(0)])
        #expect(!check.wantsAnother && check.missed.isEmpty)
        check.check([rate(98), lost(0)])
        #expect(check.missed.isEmpty)
    }

    @Test func `a speed that three attempts miss fails the run`() {
        var check = AimCheck()
        for value in [90, 95, 80] as [Double] { check.check([rate(value)]) }
        #expect(!check.wantsAnother && check.missed.map(\.value) == [80])
    }

    @Test func `each aim may be met by another attempt`() {
        var check = AimCheck()
        func memory(_ value: Double) -> Figure { Figure("memory", "memory", value, "MB", aim: .atMost(30)) }
        check.check([rate(99), memory(20)])
        check.check([rate(120), memory(40)])
        #expect(!check.wantsAnother && check.missed.isEmpty)
    }

    @Test func `a lost sample fails the run at once, and a better attempt does not mend it`() {
        var check = AimCheck()
        check.check([rate(99), lost(1)])
        #expect(!check.wantsAnother && check.missed.map(\.key) == ["lost", "rate"])
        check.check([rate(101), lost(0)])
        #expect(check.missed.map(\.key) == ["lost"])
        var later = AimCheck()
        later.check([rate(99), lost(0)])
        later.check([rate(101), lost(2)])
        #expect(later.missed.map(\.key) == ["lost"])
    }
}
