import JSON
import Vitals

extension DeviceViews {
    /// The subview with the weeks of a year; `nil` if nothing has statistics.
    var year: JSONValue? {
        let cards = plots(.year) + nightPlots(.year)
        guard !cards.isEmpty else { return nil }
        let title = "\(device.info.name): weeks of a year"
        return Card.view(
            title, path: path("year"), icon: "mdi:chart-line", isSubview: true,
            [Card.section(cards, span: Card.columns)])
    }

    /// A plot of each metric: of values their mean between the lowest and the highest, of counts what was added. Both
    /// pressures share one plot.
    func plots(_ period: Card.Period) -> [JSONValue] {
        Metric.allCases.filter { capabilities.supports($0) }.flatMap { metric -> [JSONValue] in
            let sensors = StatisticSensor.all(of: metric)
            let measured = sensors.filter { $0.kind == .measurement }.compactMap { entity($0.key) }
            let counted = sensors.filter { $0.kind == .counter }.compactMap { entity($0.key) }
            let types = measured.count > 1 ? ["mean"] : ["mean", "min", "max"]
            return (measured.isEmpty ? [] : [Card.statistics(metric.title, measured, types, period)])
                + counted.map { entity in
                    let name = entity.name.replacing(" today", with: "")
                    return Card.statistics(name, [entity], ["change"], period, isBars: true)
                }
        }
    }

    /// A plot of the nights. The highest number of a day is the length of its night; a week has the mean.
    func nightPlots(_ period: Card.Period) -> [JSONValue] {
        let sensors = Metric.allCases.filter { capabilities.supports($0) }.flatMap { StatisticSensor.all(of: $0) }
        return sensors.filter { $0.kind == .dailySum }.compactMap { entity($0.key) }
            .map { Card.statistics("Sleep", [$0], [period.name == "day" ? "max" : "mean"], period, isBars: true) }
    }
}
