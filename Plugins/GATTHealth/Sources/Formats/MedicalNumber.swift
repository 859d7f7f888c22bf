import Foundation

/// A number of medical devices: a decimal mantissa and exponent, or a reason why there is none (IEEE 11073-20601, 2.2; GATT
/// Specification Supplement, medfloat16 and medfloat32).
enum MedicalNumber: Sendable, Hashable {
    /// A number.
    case value(Double)
    /// There is no number: the measurement failed.
    case notANumber
    /// The number cannot be given at this resolution.
    case notAtThisResolution
    /// The number is above what the device can give.
    case positiveInfinity
    /// The number is below what the device can give.
    case negativeInfinity
    /// A value reserved for future use.
    case reserved

    /// An SFLOAT: 4 bits of exponent above 12 bits of mantissa, both in two's complement.
    init(sfloat bits: UInt16) {
        let mantissa = Int(Int16(bitPattern: bits << 4) >> 4)
        self.init(mantissa: mantissa, exponent: Int(Int16(bitPattern: bits) >> 12), bits: 12)
    }

    /// A FLOAT: 8 bits of exponent above 24 bits of mantissa, both in two's complement.
    init(float bits: UInt32) {
        let mantissa = Int(Int32(bitPattern: bits << 8) >> 8)
        self.init(mantissa: mantissa, exponent: Int(Int32(bitPattern: bits) >> 24), bits: 24)
    }

    private init(mantissa: Int, exponent: Int, bits: Int) {
        // The special values are the outermost mantissas: NaN 7FF, NRes 800, +INF 7FE, -INF 802, reserved 801.
        let top = 1 << (bits - 1)
        switch (mantissa, exponent) {
        case (top - 1, 0): self = .notANumber
        case (-top, 0): self = .notAtThisResolution
        case (top - 2, 0): self = .positiveInfinity
        case (-top + 2, 0): self = .negativeInfinity
        case (-top + 1, 0): self = .reserved
        default:
            // A division rounds once, so 364 with the exponent -1 is the double that `36.4` is.
            let scale = pow(10, Double(abs(exponent)))
            self = .value(exponent < 0 ? Double(mantissa) / scale : Double(mantissa) * scale)
        }
    }

    /// The number; `nil` if there is none.
    var number: Double? { if case .value(let number) = self, number.isFinite { number } else { nil } }
}
