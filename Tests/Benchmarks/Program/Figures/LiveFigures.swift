/// The live path at its limit: devices send as fast as the gateway reads.
enum LiveFigures {
    private static let rounds = 3

    static func measure(_ settings: RunSettings) throws -> [Figure] {
        try Setup.with(settings, "live") { setup in
            try setup.startGateway()
            let feed = try setup.feeder()
            var rates: [Double] = []
            var bares: [Double] = []
            var (processor, samples, messages) = (0.0, 0, 0)
            for _ in 0..<rounds {
                // The bare loop runs just before, with the same broker and the same subscriber.
                bares.append(
                    try BarePublisher.rate(
                        port: setup.broker.port, seconds: settings.pick(quick: 2, full: 4), arrivals: setup.arrivals))
                try feed.flood()
                try setup.run(seconds: settings.pick(quick: 1, full: 2))
                let before = (samples: setup.arrivals.samples, messages: setup.arrivals.messages)
                let use = try setup.gateway.use
                let start = Instant.steady
                try setup.run(seconds: settings.pick(quick: 5, full: 10))
                let seconds = Instant.seconds(since: start)
                let count = setup.arrivals.samples - before.samples
                rates.append(Double(count) / seconds)
                processor += try setup.gateway.use.processor - use.processor
                samples += count
                messages += setup.arrivals.messages - before.messages
                try setup.drain(try feed.stop().sent)
            }
            let integrity = Integrity(try feed.keys(), setup.arrivals)
            let ratios = zip(rates, bares).map { $0 / $1 }.sorted()
            let use = try setup.gateway.use
            return [
                Figure(
                    "live.rate", "live path", rates.sorted()[rounds / 2], "samples/s", aim: .atLeast(25_000),
                    reach: 100_000, bare: bares.sorted()[rounds / 2],
                    note: "rounds \(rates.map { Int($0) }), "
                        + "\(messages > 0 ? Double(samples * 10 / messages) / 10 : 0) samples a message"),
                Figure(
                    "live.ratio", "live path as a share of the bare loop", ratios[rounds / 2], "",
                    aim: .atLeast(0.8)),
                Figure(
                    "live.processor", "live path: the gateway's processor time a sample",
                    samples > 0 ? processor * 1_000_000 / Double(samples) : 0, "µs"),
                Figure("live.memory", "live path: the gateway's memory at most", use.peak, "MB"),
            ] + integrity.figures("live", "live path")
        }
    }
}
