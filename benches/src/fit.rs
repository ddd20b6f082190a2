//! The exponent of a cost: does twice the input cost twice the time?

/// The slope of the least-squares line through (log size, log cost): k if the
/// cost grows like size^k.
///
/// # Panics
/// If there are fewer than two points, or a size or a cost is not positive.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    assert!(points.len() >= 2, "a line goes through two points");
    assert!(points.iter().all(|&(x, y)| x > 0.0 && y > 0.0), "logarithms need positive numbers");
    let count = points.len() as f64;
    let logarithms = points.iter().map(|&(x, y)| (x.ln(), y.ln()));
    let (x, y) = logarithms.clone().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (x, y) = (x / count, y / count);
    let covariance: f64 = logarithms.clone().map(|(a, b)| (a - x) * (b - y)).sum();
    let variance: f64 = logarithms.map(|(a, _)| (a - x).powi(2)).sum();
    covariance / variance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_have_their_exponents() {
        for k in [0.0, 1.0, 1.5, 2.0] {
            let points: Vec<(f64, f64)> =
                [10.0, 20.0, 50.0, 1000.0].map(|x: f64| (x, 7.0 * x.powf(k))).to_vec();
            assert!((exponent(&points) - k).abs() < 1e-9, "x^{k}");
        }
    }

    #[test]
    fn n_log_n_is_told_from_n_over_two_decades() {
        let points: Vec<(f64, f64)> = [1e4, 1e5, 1e6].map(|x: f64| (x, x * x.ln())).to_vec();
        assert!(exponent(&points) > 1.08);
    }
}
