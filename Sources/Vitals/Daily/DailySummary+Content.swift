extension DailySummary {
    /// Whether another summary says the same of the day, whenever its samples were received: a device that is asked twice
    /// sends the same extremes again.
    public func hasSameContent(as other: DailySummary) -> Bool { withoutReceipt == other.withoutReceipt }

    /// The summary as if each of its samples had been received when it ended.
    package var withoutReceipt: DailySummary {
        var result = self
        switch details {
        case .values(var extremes):
            extremes.maximum = extremes.maximum?.withoutReceipt
            extremes.minimum = extremes.minimum?.withoutReceipt
            extremes.resting = extremes.resting.map(\.withoutReceipt)
            result.details = .values(extremes)
        case .bloodPressure(var extremes):
            extremes.maximumSystolic = extremes.maximumSystolic?.withoutReceipt
            extremes.minimumSystolic = extremes.minimumSystolic?.withoutReceipt
            extremes.maximumDiastolic = extremes.maximumDiastolic?.withoutReceipt
            extremes.minimumDiastolic = extremes.minimumDiastolic?.withoutReceipt
            result.details = .bloodPressure(extremes)
        case .steps, .sleep, .sport: break
        }
        return result
    }
}

extension StoredSample {
    /// The sample as if it had been received when it ended.
    package var withoutReceipt: StoredSample {
        var result = self
        result.receivedAt = sample.end
        return result
    }
}
