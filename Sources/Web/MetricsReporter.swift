package import CoreMetrics
package import Vitals

/// Reports what `/metrics` has to swift-metrics, by the same names: for a program that embeds the gateway and has given `MetricsSystem` a
/// factory, which sends them elsewhere. What only rises is a `Counter`, all else a `Meter`.
package struct MetricsReporter: Sendable {
    /// The time between two reports: that of a usual scrape.
    package static let interval: Duration = .seconds(15)

    private let view: any GatewayView
    private let hasVitals: Bool
    private let clock: GatewayClock
    private let factory: any MetricsFactory

    /// - Parameter hasVitals: whether the newest values of the devices are reported, too. They are health data.
    package init(
        of view: any GatewayView, withVitals hasVitals: Bool, clock: GatewayClock,
        to factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.view = view
        self.hasVitals = hasVitals
        self.clock = clock
        self.factory = factory
    }

    /// Reports until the task is cancelled; returns at once where nobody has chosen a factory.
    package func run() async {
        guard !(factory is NOOPMetricsHandler) else { return }
        var instruments = ReportedInstruments(factory)
        repeat {
            await MetricsPage.write(view, withVitals: hasVitals, to: &instruments)
            instruments.endReport()
        } while (try? await clock.sleep(for: Self.interval)) != nil
        instruments.removeAll()
    }
}

/// The instruments of a report, each for one row of `/metrics`. Those without a row in the newest report are removed.
struct ReportedInstruments: MetricRows {
    private enum Instrument {
        case counter(Counter, last: Int64)
        case meter(Meter)
    }
    private let factory: any MetricsFactory
    private var instruments: [String: Instrument] = [:]
    private var reported: Set<String> = []
    /// The bytes of the rows' names, about as in the text.
    private(set) var size = 0

    init(_ factory: any MetricsFactory) { self.factory = factory }

    mutating func add(
        _ family: MetricFamily, _ value: Double, _ labels: KeyValuePairs<StaticString, String>
    ) {
        guard value.isFinite else { return }
        let dimensions = labels.map { ("\($0.key)", $0.value) }
        let key = family.name + dimensions.map { "\n\($0)\n\($1)" }.joined()
        size += key.utf8.count
        reported.insert(key)
        switch (family.kind, instruments[key]) {
        case (.counter, let found):
            guard let count = Int64(exactly: value.rounded(.down)) else { return }
            var (counter, last) = (Counter?.none, Int64(0))
            if case .counter(let known, let former) = found { (counter, last) = (known, former) }
            let instrument = counter ?? Counter(label: family.name, dimensions: dimensions, factory: factory)
            // One that has fallen began again, as that of a device that was removed and comes again.
            instrument.increment(by: count < last ? count : count - last)
            instruments[key] = .counter(instrument, last: count)
        case (.gauge, .meter(let meter)?): meter.set(value)
        case (.gauge, _):
            let meter = Meter(label: family.name, dimensions: dimensions, factory: factory)
            meter.set(value)
            instruments[key] = .meter(meter)
        }
    }

    /// Removes what this report had no row for.
    mutating func endReport() {
        for key in instruments.keys where !reported.contains(key) { remove(key) }
        reported = []
        size = 0
    }

    mutating func removeAll() {
        for key in instruments.keys { remove(key) }
    }

    private mutating func remove(_ key: String) {
        switch instruments.removeValue(forKey: key) {
        case .counter(let counter, _)?: counter.destroy()
        case .meter(let meter)?: meter.destroy()
        case nil: break
        }
    }
}
