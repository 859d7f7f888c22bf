import Vitals

/// A hash of 64 bits that is the same in every process, unlike Swift's own: FNV-1a.
struct StableHash: Hashable {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func combine(_ byte: UInt8) {
        value ^= UInt64(byte)
        value &*= 0x100_0000_01b3
    }

    mutating func combine(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { for byte in $0 { combine(byte) } }
    }

    mutating func combine(_ number: Double) { combine(Int64(bitPattern: number.bitPattern)) }

    mutating func combine(_ text: String) {
        combine(Int64(text.utf8.count))
        for byte in text.utf8 { combine(byte) }
    }

    /// A missing number differs from every other one.
    mutating func combine(_ number: Double?) {
        combine(number == nil ? UInt8(0) : 1)
        if let number { combine(number) }
    }

    mutating func combine(_ number: Int?) {
        combine(number == nil ? UInt8(0) : 1)
        if let number { combine(Int64(number)) }
    }
}

extension Sample {
    /// A hash of the content that is the same in every process. It must not change from one version to the next without need: an
    /// update would then compare every record of every export with the store.
    var stableHash: UInt64 {
        var hash = StableHash()
        hash.combine(metric.rawValue)
        hash.combine(start.milliseconds)
        hash.combine(end.milliseconds)
        hash.combine(kind.rawValue)
        hash.combine(isUserInitiated ? UInt8(1) : 0)
        hash.combine(isExercise.map { $0 ? 1 : 0 })
        hash.combine(revision)
        hash.combine(user)
        for (qualifier, word) in qualifiers.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            hash.combine(qualifier.rawValue)
            hash.combine(word)
        }
        reading.combine(into: &hash)
        return hash.value
    }
}

extension Reading {
    fileprivate func combine(into hash: inout StableHash) {
        switch self {
        case .value(let value): hash.combine(value)
        case .bloodPressure(let pressure):
            hash.combine(pressure.systolic)
            hash.combine(pressure.diastolic)
            hash.combine(pressure.pulse)
        case .count(let increment):
            hash.combine(Int64(increment.count))
            if increment.thousandths != 0 { hash.combine(Int64(increment.thousandths)) }
            hash.combine(increment.distance)
            hash.combine(increment.energy)
        case .sleep(let sleep):
            for stage in sleep.stages {
                hash.combine(stage.depth.rawValue)
                hash.combine(stage.start.milliseconds)
                hash.combine(stage.end.milliseconds)
            }
            for (depth, minutes) in sleep.untimed.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                hash.combine(depth.rawValue)
                hash.combine(Int64(minutes))
            }
        case .sport(let sport):
            hash.combine(sport.activity)
            hash.combine(sport.distance)
            hash.combine(sport.energy)
            hash.combine(sport.steps)
            hash.combine(sport.minimumHeartRate)
            hash.combine(sport.averageHeartRate)
            hash.combine(sport.maximumHeartRate)
        }
    }
}
