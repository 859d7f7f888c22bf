extension DailySummary {
    /// Whether both summaries are equal except for the times of receipt: a device that is asked twice sends the same
    /// extremes again.
    public func hasSameContent(as other: DailySummary) -> Bool { withoutReceipt == other.withoutReceipt }

    /// The summary with each sample received at its end.
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
    /// The sample, received at its end.
    package var withoutReceipt: StoredSample {
        var result = self
        result.receivedAt = sample.end
        return result
    }
}
